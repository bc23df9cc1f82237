import { existsSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import type { Expression, Node, SourceFile } from 'typescript/unstable/ast'
import {
  isArrayLiteralExpression,
  isCallExpression,
  isNoSubstitutionTemplateLiteral,
  isPropertyAccessExpression,
  isStringLiteral,
  isTaggedTemplateExpression,
  isTemplateExpression,
} from 'typescript/unstable/ast/is'
import { API } from 'typescript/unstable/sync'
import { layerOf } from './layers.ts'
import { is, readSql, type Token } from './read-sql.ts'
import { TABLE_EXCEPTIONS } from './table-exceptions.ts'
import { TABLE_OWNERS, type TableName } from './table-owners.ts'

/**
 * `node scripts/check-tables.ts [ROOT]` checks, on the syntax tree of every file of server/, that only a table's owner
 * writes it and that no lower layer than the owner's reads it. Queries of the builder count, and so does the text of
 * `sql` templates.
 */

/** These work on the rows of all features: data is erased, exported, backed up, moved and re-encrypted as a whole. */
const ALL_TABLES =
  /^server\/(people\/privacy|admin|platform\/db)\/|^server\/platform\/secrets\/(foreign-rows|rewrite-secrets)\.ts$|^server\/[^/]+$/

const WRITES = new Set(['insertInto', 'updateTable', 'deleteFrom', 'mergeInto'])
const READS = /^(selectFrom|from|using|(inner|left|right|full|cross)Join(Lateral)?)$/

type Access = { kind: 'reads' | 'writes'; table: TableName }

const root = resolve(process.argv[2] ?? join(import.meta.dirname, '..'))
const problems: string[] = []
const unused = new Set(Object.keys(TABLE_EXCEPTIONS))
let count = 0
readFiles()
if (process.argv[2] === undefined)
  for (const one of unused) problems.push(`${one} is no longer needed among the exceptions`)
for (const problem of problems) console.error(problem)
console.log(`${count} accesses to tables, ${problems.length} against the rules`)
process.exitCode = problems.length > 0 ? 1 : 0

function readFiles(): void {
  const api = new API({ cwd: root })
  const config = join(root, 'tsconfig.json')
  for (const { program } of api.updateSnapshot({ openProjects: [config].filter(existsSync) }).getProjects()) {
    for (const path of program.getSourceFileNames()) {
      const name = relative(root, path)
      if (!/^server\/.*(?<!\.test|\.d|\/for-tests)\.ts$/.test(name) || ALL_TABLES.test(name)) continue
      const source = program.getSourceFile(path)
      if (source) checkFile(name, source)
    }
  }
  api.close()
}

function checkFile(name: string, source: SourceFile): void {
  const found = new Set<string>()
  const note = ({ kind, table }: Access): void => {
    count++
    const problem = problemOf(name, kind, table)
    if (problem) found.add(problem)
  }
  const visit = (node: Node): void => {
    if (isCallExpression(node) && isPropertyAccessExpression(node.expression)) {
      const method = node.expression.name.text
      const kind = WRITES.has(method) ? 'writes' : READS.test(method) ? 'reads' : null
      const [first] = node.arguments
      if (kind && first) {
        for (const table of namedTables(first)) note({ kind, table })
        if (kind === 'writes' && literals(first).length === 0)
          found.add(`${name} writes a table that it does not name: ${node.getText(source)}`)
      }
      if (
        method === 'table' &&
        node.expression.expression.getText(source) === 'sql' &&
        !(first && isStringLiteral(first))
      )
        found.add(`${name} uses a table that it does not name: ${node.getText(source)}`)
    } else if (isTaggedTemplateExpression(node) && node.tag.getText(source).startsWith('sql')) {
      for (const access of accessesOf(textOf(node.template, source))) note(access)
    }
    node.forEachChild(visit)
  }
  source.forEachChild(visit)
  problems.push(...found)
}

function problemOf(name: string, kind: Access['kind'], table: TableName): string | null {
  const owner = TABLE_OWNERS[table]
  const path = name.slice('server/'.length)
  if (path.startsWith(`${owner}/`)) return null
  if (kind === 'reads' && (layerOf(path) ?? -1) >= (layerOf(owner) ?? 0)) return null
  const exception = `${name} ${kind} ${table}`
  if (exception in TABLE_EXCEPTIONS) {
    unused.delete(exception)
    return null
  }
  return kind === 'writes'
    ? `${exception}, which only server/${owner}/ may write`
    : `${exception}, which belongs to the higher layer server/${owner}/`
}

function literals(argument: Expression): string[] {
  const elements = isArrayLiteralExpression(argument) ? [...argument.elements] : [argument]
  return elements
    .filter((one) => isStringLiteral(one) || isNoSubstitutionTemplateLiteral(one))
    .map((one) => one.text)
}

function isTable(name: string | undefined): name is TableName {
  return name !== undefined && Object.hasOwn(TABLE_OWNERS, name)
}

/** The query builder gets a table as `table`, `table as alias` or a list of those. */
function namedTables(argument: Expression): TableName[] {
  return literals(argument)
    .map((text) => text.split(' ')[0])
    .filter(isTable)
}

/** Returns the text of a template. A placeholder stands for each value, unless it is a table named in place. */
function textOf(template: Node, source: SourceFile): string {
  if (isNoSubstitutionTemplateLiteral(template)) return template.text
  if (!isTemplateExpression(template)) return ''
  const parts = template.templateSpans.map(({ expression, literal }) => {
    const table = /^sql\.(?:table|id|ref)\('(\w+)'\)$/.exec(expression.getText(source))?.[1]
    return `${table ?? '$1'}${literal.text}`
  })
  return template.head.text + parts.join('')
}

/** Returns the tables that a statement or a part of one uses. */
function accessesOf(text: string): Access[] {
  const tokens = readSql(text)
  return tokens.flatMap((token, at): Access[] => {
    const before = tokens[at - 1]
    const next = at + (is(tokens[at + 1], 'only') ? 2 : 1)
    if (is(token, 'update') && !is(before, 'for', 'key', 'do', 'on')) return accessTo('writes', tokens, next)
    if (is(token, 'into', 'truncate') || (is(token, 'from') && is(before, 'delete')))
      return accessTo('writes', tokens, next)
    if (is(token, 'join')) return accessTo('reads', tokens, next)
    if (is(token, 'from', 'using')) return listedAfter(tokens, next)
    return []
  })
}

function accessTo(kind: Access['kind'], tokens: Token[], at: number): Access[] {
  const name = tokens[at]
  // A name with a point behind it is a column, as in `extract(epoch from tickets.created_at)`.
  if (name?.kind !== 'word' && name?.kind !== 'quoted') return []
  return isTable(name.text) && !is(tokens[at + 1], '.') ? [{ kind, table: name.text }] : []
}

/** Reads `one, another as x, function(…) as y` up to the next keyword. */
function listedAfter(tokens: Token[], start: number): Access[] {
  const found = accessTo('reads', tokens, start)
  let depth = 0
  for (let at = start; at < tokens.length; at++) {
    const token = tokens[at]
    if (is(token, '(')) depth++
    if (is(token, ')') && --depth < 0) break
    if (depth > 0) continue
    if (is(token, 'where', 'join', 'order', 'group', 'limit', 'union', 'set', 'returning', 'on', 'for')) break
    if (is(token, ',')) found.push(...accessTo('reads', tokens, at + 1))
  }
  return found
}
