import { setTimeout as wait } from 'node:timers/promises'
import type { Cluster } from '../postgres-cluster.ts'
import { requestsTo } from '../raw-routes.ts'
import { leavesOf, type Schema, sampleOf } from '../sample.ts'
import type { Section } from './figures.ts'
import { ask, type GuardedWorld, inGuardedWorld } from './guarded-world.ts'
import { fillTenant, type Tenant } from './tenant.ts'

const AT_ONCE = 12
/** The analysis of an agent's first conversations begins when they have been idle for 20 seconds. */
const QUIET_MS = 30_000
const PATIENCE_MS = 120_000

type Content = { schema?: Schema & { $ref?: string } }
type Operation = {
  title: string
  id: string
  method: string
  path: string
  query: string[]
  content: [type: string, schema: Schema] | null
  statuses: string[]
}

/** What is sent: A's value in one place, and B's own values in all others. */
type Call = {
  operation: Operation
  path: string
  query?: string
  body?: unknown
  headers?: Record<string, string> | undefined
}

/** Calls every operation of the OpenAPI document with ids of account A and a key of account B. */
export function checkTenants(cluster: Cluster): Promise<Section> {
  return inGuardedWorld({ cluster }, async (world) => {
    const section: Section = { figures: {}, broken: [], stories: [] }
    const a = await fillTenant(world, 'alder')
    const b = await fillTenant(world, 'birch')
    const operations = await readOperations(world)
    const before = await whenQuiet(world, a, section)
    const counts = { calls: 0, leaks: 0, failures: 0, answered: 0 }
    const check = async (call: Call): Promise<void> => {
      const answer = await send(world, b, call)
      const { operation } = call
      counts.calls++
      if (answer === null) return
      counts.answered++
      const tell = (what: string): void =>
        void section.stories.push(
          `${what}: ${operation.title} ${call.path}?${call.query ?? ''} ${answer.status} ${answer.text.slice(0, 200)}`,
        )
      if (
        answer.status >= 500 &&
        (answer.status === 500 || !operation.statuses.includes(`${answer.status}`))
      ) {
        counts.failures++
        tell('undeclared 5xx')
      }
      if (answer.text.includes(a.secret) || a.unsent.some((id) => answer.text.includes(id))) {
        counts.leaks++
        tell('leak')
      }
    }
    for (const operation of operations) {
      const calls = callsOf(operation, a, b)
      for (let at = 0; at < calls.length; at += AT_ONCE)
        await Promise.all(calls.slice(at, at + AT_ONCE).map(check))
    }
    const changed = differencesOf(before, await rowsOf(world, a))
    const { balanced } = await world.command('reconcile')
    section.stories.push(...changed.map((row) => `changed row of A: ${row}`))
    section.figures = {
      'tenants: calls / operations': `${counts.calls} / ${operations.length}`,
      'tenants: leaks': counts.leaks,
      'tenants: changed rows of A': changed.length,
      'tenants: undeclared 5xx': counts.failures,
      'tenants: without an answer': counts.calls - counts.answered,
      'tenants: ledger balanced': `${balanced}` === 'true' ? 'yes' : 'no',
      ...section.figures,
    }
    for (const [rule, count] of Object.entries({
      leaks: counts.leaks,
      'undeclared 5xx': counts.failures,
      'changed rows of A': changed.length,
    }))
      if (count > 0) section.broken.push(`tenants: ${count} ${rule}`)
    if (`${balanced}` !== 'true') section.broken.push('tenants: the ledger is not balanced')
    return section
  })
}

/** Returns the calls of an operation: A's ids in each place of the path, of the query and of the body. */
function callsOf(operation: Operation, a: Tenant, b: Tenant): Call[] {
  const { id, path, query, content, method } = operation
  const pathWith = (ids: Record<string, string>): string =>
    path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(ids[name] ?? 'none'))
  if (path.startsWith('/webhooks/'))
    return requestsTo(
      { name: id, method, path } as Parameters<typeof requestsTo>[0],
      a.ids.agentId ?? '',
      'birch',
    ).map(({ path: signed, headers, body }) => ({ operation, path: signed, headers, body }))
  const body = content ? bodyOf(content, id) : undefined
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const isOwn = names.length === 0
  const calls: Call[] = []
  for (const name of names) {
    for (const value of valuesFor(name, a))
      calls.push({ operation, path: pathWith({ ...b.ids, [name]: value }), body })
  }
  if (names.length > 1) calls.push({ operation, path: pathWith({ ...b.ids, ...a.ids }), body })
  // With only B's own ids, an operation that deletes would take B's world away.
  if (method === 'DELETE' && !isOwn) return calls
  if (isOwn && query.length === 0 && !content) calls.push({ operation, path })
  for (const name of query)
    for (const value of valuesFor(name, a))
      calls.push({ operation, path: pathWith(b.ids), query: `${name}=${encodeURIComponent(value)}`, body })
  if (content && content[0] === 'application/json')
    for (const leaf of leavesOf(content[1], ['key']))
      for (const value of valuesFor(leaf.name, a))
        calls.push({
          operation,
          path: pathWith(b.ids),
          body: { ...(body as object), ...(leaf.fill(value) as object) },
        })
  return calls
}

/** A's values for a place: those of its name, or else ids of every kind. */
function valuesFor(name: string, { ids, kinds }: Tenant): string[] {
  const own = ids[name]
  return own === undefined ? kinds : [own, ...(/id$/i.test(name) ? kinds : [])]
}

const BODIES: Record<string, object> = {
  chat: { message: 'x', stream: false },
  runPlayground: { message: 'x', stream: false },
}

function bodyOf([type, schema]: [string, Schema], operation: string): unknown {
  if (type === 'application/json') return { ...(sampleOf(schema) as object), ...BODIES[operation] }
  if (!type.startsWith('multipart/')) return 'x'
  const form = new FormData()
  for (const [name, part] of Object.entries(schema.properties ?? {})) {
    if (part.format === 'binary') form.set(name, new Blob(['x']), 'x.txt')
    else if (schema.required?.includes(name)) form.set(name, String(sampleOf(part)))
  }
  return form
}

async function send(world: GuardedWorld, b: Tenant, { operation, path, query, body, headers }: Call) {
  const url = world.services[0]?.url ?? ''
  const sent = operation.method === 'GET' ? undefined : body
  try {
    return await ask(url, b.key, operation.method, query ? `${path}?${query}` : path, sent, headers)
  } catch {
    // A stream of B's own events does not end by itself.
    return null
  }
}

async function readOperations(world: GuardedWorld): Promise<Operation[]> {
  const { body: document } = await world.request('GET', '/openapi.json')
  const resolve = (value: unknown, depth = 0): unknown => {
    if (Array.isArray(value)) return value.map((each) => resolve(each, depth))
    if (typeof value !== 'object' || value === null) return value
    const { $ref } = value as { $ref?: string }
    if ($ref && depth < 8) return resolve(at(document, $ref), depth + 1)
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, resolve(each, depth)]))
  }
  const found: Operation[] = []
  for (const [path, item] of Object.entries<Record<string, unknown>>(document.paths)) {
    const [server] = (item.servers ?? document.servers) as { url: string }[]
    const prefix = server?.url === '/' ? '' : (server?.url ?? '')
    for (const [method, described] of Object.entries(item)) {
      if (!['get', 'post', 'put', 'patch', 'delete'].includes(method)) continue
      const operation = resolve(described) as {
        operationId: string
        parameters?: { in: string; name: string }[]
        requestBody?: { content: Record<string, Content> }
        responses: object
      }
      const [content] = Object.entries(operation.requestBody?.content ?? {})
      found.push({
        title: `${method.toUpperCase()} ${prefix}${path}`,
        id: operation.operationId,
        method: method.toUpperCase(),
        path: prefix + path,
        query: (operation.parameters ?? []).filter((each) => each.in === 'query').map(({ name }) => name),
        content: content ? [content[0], content[1].schema ?? {}] : null,
        statuses: Object.keys(operation.responses),
      })
    }
  }
  return found
}

const at = (document: unknown, $ref: string): unknown =>
  $ref
    .slice(2)
    .split('/')
    .reduce(
      (value, key) => (value as Record<string, unknown>)[key.replaceAll('~1', '/').replaceAll('~0', '~')],
      document,
    )

type Rows = Map<string, string>

/** Reads every row of every table that names the account, by its table and its whole text without a few columns. */
async function rowsOf(world: GuardedWorld, { accountId }: Tenant): Promise<Rows> {
  const tables = await world.rows(`
    select format('%I.%I', table_schema, table_name) as name from information_schema.tables
    where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema') order by 1`)
  const found: Rows = new Map()
  for (const { name } of tables) {
    // When a key was last used is written some time later, and A's own retries note when its channel was last tried.
    const rows = await world.rows(
      `select row::text as row from (select to_jsonb(t) - 'last_used_at' - 'checked_at' as row from ${name} as t) as shown
      where row::text like '%${accountId}%' order by 1`,
    )
    for (const { row = '' } of rows) {
      const { id, ...rest } = JSON.parse(row)
      found.set(`${name} ${id ?? JSON.stringify(rest)}`, row)
    }
  }
  return found
}

function differencesOf(before: Rows, after: Rows): string[] {
  const places = new Set([...before.keys(), ...after.keys()])
  return [...places].flatMap((place) => {
    const [old, now] = [before.get(place), after.get(place)].map((row) => (row ? JSON.parse(row) : null))
    if (!old || !now) return `${place} ${now ? 'is new' : 'is gone'}`
    const columns = Object.keys(now).filter(
      (column) => JSON.stringify(old[column]) !== JSON.stringify(now[column]),
    )
    return columns.length > 0
      ? `${place}: ${columns.map((column) => `${column} ${old[column]} to ${now[column]}`)}`
      : []
  })
}

/** Waits until the background work on A's rows is done, and notes what that was. */
async function whenQuiet(world: GuardedWorld, a: Tenant, section: Section): Promise<Rows> {
  const first = await rowsOf(world, a)
  let last = first
  let since = performance.now()
  const giveUpAt = since + PATIENCE_MS
  while (performance.now() - since < QUIET_MS && performance.now() < giveUpAt) {
    await wait(2_000)
    const now = await rowsOf(world, a)
    if (differencesOf(last, now).length > 0) since = performance.now()
    last = now
  }
  const changed = differencesOf(first, last)
  section.figures['tenants: rows of A that its background work changed before'] = changed.length
  section.stories.push(...changed.map((row) => `before: ${row}`.slice(0, 300)))
  return last
}
