import { is, readSql, type Token } from '../scripts/read-sql.ts'
import { TENANT_TABLES } from '../scripts/table-owners.ts'

/**
 * Returns the tenants' tables in a statement that are not limited to an account. A table is limited when `account_id`
 * is compared with a value, or when one of its ids equals an id of a limited table, directly (`on m.conversation_id =
 * c.id`) or in a subquery (`id in (select …)`). An insert must give a value for `account_id`. Conditions within `or`,
 * negated conditions and the optional side of an outer join do not limit other tables.
 */
export function tablesWithoutAccount(text: string): string[] {
  const statement = nested(readSql(text))
  if (!isQuery(statement)) return []
  const tables: Relation[] = []
  readQuery(statement, { tables, scopes: [], derived: new Map() })
  for (let changed = true; changed; ) {
    const before = tables.filter(({ limited }) => limited).length
    for (const one of tables) one.limited ||= one.limitedBy.some(({ limited }) => limited)
    changed = tables.filter(({ limited }) => limited).length > before
  }
  return [
    ...new Set(
      tables
        .filter(({ isCopy, table, limited }) => !isCopy && table && !limited)
        .map(({ table }) => table ?? ''),
    ),
  ]
}

/** The tables of embedding spaces: see knowledge/vectors/spaces.ts. */
const VECTORS = /^vectors_\d+(?:_\d+)?$/

type Group = { kind: 'group'; nodes: Node[] }
type Node = Token | Group
type Relation = {
  alias: string
  /** The tenants' table; null for subqueries, functions and tables that belong to no account. */
  table: string | null
  /** It refers to a relation of the enclosing query. */
  isCopy: boolean
  limited: boolean
  limitedBy: Relation[]
}
type Place = {
  /** Every relation of the statement. */
  tables: Relation[]
  /** The relations of the query and of those around it, the innermost first. */
  scopes: Relation[][]
  /** The common table expressions by their names. */
  derived: Map<string, Relation>
}
/** With `only`, the conditions limit only this relation. */
type Condition = { nodes: Node[]; only: Relation | null }

const QUERY = ['select', 'insert', 'update', 'delete', 'merge', 'with', 'values']
const CLAUSES = [
  'select', 'set', 'from', 'join', 'on', 'where', 'group', 'having', 'window', 'order', 'limit', 'offset', 'fetch',
  'for', 'returning', 'values', 'using', 'when',
] // biome-ignore format: a list of words
const AFTER_TABLE = [
  'inner',
  'left',
  'right',
  'full',
  'cross',
  'natural',
  'lateral',
  'default',
  'tablesample',
  ...CLAUSES,
]

function nested(tokens: Token[]): Node[] {
  const stack: Node[][] = [[]]
  for (const token of tokens) {
    if (is(token, '(')) stack.push([])
    else if (is(token, ')') && stack.length > 1) {
      const nodes = stack.pop() ?? []
      stack.at(-1)?.push({ kind: 'group', nodes })
    } else stack.at(-1)?.push(token)
  }
  return stack[0] ?? []
}

const isGroup = (node: Node | undefined): node is Group => node?.kind === 'group'
const word = (node: Node | undefined, ...texts: string[]): boolean =>
  node !== undefined && !isGroup(node) && is(node, ...texts)
const isQuery = (nodes: Node[]): boolean =>
  word(nodes[0], ...QUERY) ||
  (nodes.length === 1 && isGroup(nodes[0]) && isQuery(nodes[0].nodes)) ||
  (isGroup(nodes[0]) && isQuery(nodes[0].nodes) && word(nodes[1], 'union', 'except', 'intersect'))
const nameOf = (node: Node | undefined): string | null =>
  node &&
  !isGroup(node) &&
  (node.kind === 'quoted' || (node.kind === 'word' && !AFTER_TABLE.includes(node.text)))
    ? node.text
    : null

/** Reads a query with its common table expressions, and returns the relations that its rows come from. */
function readQuery(nodes: Node[], place: Place): Relation[] {
  let rest = nodes
  let inner = place
  if (word(nodes[0], 'with')) {
    inner = { ...place, derived: new Map(place.derived) }
    let at = word(nodes[1], 'recursive') ? 2 : 1
    for (;;) {
      const name = nameOf(nodes[at]) ?? ''
      const derived = newRelation(place)
      inner.derived.set(name, derived)
      while (at < nodes.length && !word(nodes[at], 'as')) at++
      while (at < nodes.length && !isGroup(nodes[at])) at++
      const body = nodes[at]
      if (!isGroup(body)) break
      derived.limitedBy.push(...readQuery(body.nodes, inner))
      at++
      if (!word(nodes[at], ',')) break
      at++
    }
    rest = nodes.slice(at)
  }
  const [first, ...others] = split(rest, 'union', 'intersect', 'except')
  const found = readSelect(first ?? [], inner)
  for (const other of others) readSelect(word(other[0], 'all', 'distinct') ? other.slice(1) : other, inner)
  return found
}

function split(nodes: Node[], ...separators: string[]): Node[][] {
  const parts: Node[][] = [[]]
  for (const node of nodes) {
    if (word(node, ...separators)) parts.push([])
    else parts.at(-1)?.push(node)
  }
  return parts
}

/** Reads a statement without set operations. */
function readSelect(nodes: Node[], outer: Place): Relation[] {
  const [only] = nodes
  if (nodes.length === 1 && isGroup(only)) return readQuery(only.nodes, outer)
  const own: Relation[] = []
  const place: Place = { ...outer, scopes: [own, ...outer.scopes] }
  const conditions: Condition[] = []
  const expressions: Node[] = []
  let inserted: Relation[] = []
  let clause = ''
  let outerJoin = false
  for (let at = 0; at < nodes.length; at++) {
    const node = nodes[at] as Node
    const before = nodes[at - 1]
    if (word(node, 'left', 'right', 'full') && !isGroup(nodes[at + 1])) outerJoin = true
    else if (word(node, 'inner', 'cross')) outerJoin = false
    if (word(node, 'into') && word(before, 'insert')) {
      const [relation, next] = readRelation(nodes, at + 1, place)
      inserted = [relation]
      const columns = nodes[next]
      relation.limited = isGroup(columns) && columns.nodes.some((one) => nameOf(one) === 'account_id')
      at = isGroup(columns) ? next : next - 1
    } else if (
      (word(node, 'update') && !word(before, 'do', 'for', 'key')) ||
      word(node, 'from', 'join', 'using', 'into') ||
      (word(node, ',') && clause === 'from')
    ) {
      if (word(before, 'distinct') && clause !== 'select') continue
      if (word(node, 'using') && isGroup(nodes[at + 1]) && clause === 'join') continue
      clause = word(node, 'join') ? 'join' : word(node, 'update') ? 'update' : 'from'
      const start = word(nodes[at + 1], 'only', 'lateral') ? at + 2 : at + 1
      const [relation, next] = readRelation(nodes, start, place)
      own.push(relation)
      at = next - 1
    } else if (word(node, 'on') && word(nodes[at + 1], 'conflict')) clause = 'conflict'
    else if (word(node, 'on') && clause === 'join') {
      conditions.push({ nodes: [], only: outerJoin ? (own.at(-1) ?? null) : null })
      clause = 'condition'
      outerJoin = false
    } else if (word(node, 'where', 'having')) {
      conditions.push({ nodes: [], only: null })
      clause = clause === 'conflict' ? 'conflict' : 'condition'
    } else if (word(node, ...CLAUSES)) clause = 'text' in node ? node.text : ''
    else if (
      clause === 'condition' &&
      !(word(node, 'left', 'right', 'inner', 'full', 'cross') && !isGroup(nodes[at + 1]))
    )
      conditions.at(-1)?.nodes.push(node)
    else expressions.push(node)
  }
  for (const condition of conditions) readCondition(condition, place)
  readExpressions(expressions, place)
  return inserted.length > 0 ? inserted : own
}

/** Reads `table [as] alias`, a subquery or a function, and returns it with the index of what follows. */
function readRelation(nodes: Node[], start: number, place: Place): [Relation, number] {
  const relation = newRelation(place)
  let at = start
  const node = nodes[at++]
  if (isGroup(node)) {
    if (isQuery(node.nodes)) relation.limitedBy = readQuery(node.nodes, place)
    else readExpressions(node.nodes, place)
  } else {
    let name = nameOf(node) ?? ''
    let isForeign = false
    if (word(nodes[at], '.')) {
      isForeign = name !== 'public'
      name = nameOf(nodes[at + 1]) ?? ''
      at += 2
    }
    relation.alias = name
    const given = nodes[at]
    const derived = place.derived.get(name)
    if (isGroup(given) && !word(nodes[start - 1], 'into')) {
      readExpressions(given.nodes, place)
      at++
      if (word(nodes[at], 'with')) at += 2
    } else if (derived && !isForeign) relation.limitedBy.push(derived)
    else if (!isForeign && TENANT_TABLES.has(name)) relation.table = name
    else if (!isForeign && VECTORS.test(name)) relation.table = 'vectors'
  }
  if (word(nodes[at], 'as')) at++
  const alias = nameOf(nodes[at])
  if (alias !== null) {
    relation.alias = alias
    at++
    // The columns of an alias, as in `unnest(…) as u(id)`.
    if (isGroup(nodes[at]) && !word(nodes[start - 1], 'into')) at++
  }
  return [relation, at]
}

/** Reads subqueries that are not conditions. The enclosing query may limit them, but they do not limit it. */
function readExpressions(nodes: Node[], place: Place): void {
  for (const node of nodes) {
    if (!isGroup(node)) continue
    if (isQuery(node.nodes)) readQuery(node.nodes, hiding(place))
    else readExpressions(node.nodes, place)
  }
}

/** The relations around a subquery, to which it can refer but which it does not limit. */
function hiding(place: Place): Place {
  const scopes = place.scopes.map((scope) =>
    scope.map((one) =>
      Object.assign(newRelation(place), { ...one, isCopy: true, limited: false, limitedBy: [one] }),
    ),
  )
  return { ...place, scopes }
}

function newRelation(place: Place): Relation {
  const relation: Relation = { alias: '', table: null, isCopy: false, limited: false, limitedBy: [] }
  place.tables.push(relation)
  return relation
}

function readCondition({ nodes, only }: Condition, place: Place): void {
  if (nodes.some((node) => word(node, 'or'))) readExpressions(nodes, place)
  else for (const part of split(nodes, 'and')) readComparison(part, only, place)
}

function readComparison(nodes: Node[], only: Relation | null, place: Place): void {
  const [first, second] = nodes
  const at = nodes.findIndex((node) => word(node, '=', 'in'))
  const right = nodes.slice(at + 1)
  const subquery = queryIn(right)
  if (nodes.length === 1 && isGroup(first) && !isQuery(first.nodes))
    readCondition({ nodes: first.nodes, only }, place)
  else if (word(first, 'exists') && isGroup(second)) readQuery(second.nodes, only ? hiding(place) : place)
  else if (at === -1 || nodes.some((node) => word(node, 'not', 'case'))) readExpressions(nodes, place)
  else {
    const columns = columnsIn(nodes.slice(0, at), place)
    if (subquery) {
      const inner = readQuery(subquery.nodes, hiding(place))
      for (const column of columns)
        if (column && isId(column.name) && (!only || only === column.relation))
          column.relation.limitedBy.push(...inner)
    } else {
      readExpressions(nodes, place)
      const others = columnsIn(right, place)
      columns.forEach((column, i) => {
        compare(column, others[i] ?? null, only)
        compare(others[i] ?? null, column, only)
      })
    }
  }
}

type Column = { relation: Relation; name: string }

function compare(column: Column | null, other: Column | null, only: Relation | null): void {
  if (!column || !isId(column.name) || (only && only !== column.relation)) return
  if (other) {
    if (isId(other.name)) column.relation.limitedBy.push(other.relation)
  } else if (column.name === 'account_id') column.relation.limited = true
}

const isId = (name: string): boolean => name === 'id' || name.endsWith('_id') || name === 'ctid'

/** Returns the subquery of `in (select …)`, `= any(array(select …))` or `= (select …)`. */
function queryIn(nodes: Node[]): Group | null {
  const group = nodes.find(isGroup)
  if (!group || !nodes.slice(0, nodes.indexOf(group)).every((node) => word(node, 'any', 'some', 'array')))
    return null
  return isQuery(group.nodes) ? group : queryIn(group.nodes)
}

/** Returns the columns of `name`, `alias.name` or `(one, another)`, with null for each value. */
function columnsIn(nodes: Node[], place: Place): (Column | null)[] {
  const [first, second, third] = nodes
  if (nodes.length === 1 && isGroup(first))
    return split(first.nodes, ',').flatMap((one) => columnsIn(one, place))
  const name = nameOf(first)
  if (name === null || isGroup(second)) return [null]
  if (!word(second, '.')) {
    for (const scope of place.scopes) {
      const relation = unqualified(name, scope)
      if (relation) return [{ relation, name }]
      if (scope.length > 0) return [null]
    }
    return [null]
  }
  const relation = place.scopes.flat().find(({ alias }) => alias === name)
  const column = nameOf(third)
  return [relation && column ? { relation, name: column } : null]
}

/** PostgreSQL refuses ambiguous names, so an `account_id` belongs to the only table that has one. */
function unqualified(name: string, scope: Relation[]): Relation | null {
  if (scope.length === 1) return scope[0] ?? null
  const tenants = scope.filter(({ table }) => table !== null)
  return name === 'account_id' && tenants.length === 1 ? (tenants[0] ?? null) : null
}
