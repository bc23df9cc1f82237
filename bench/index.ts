import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os'
import { text as textOfStream } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { sql } from 'kysely'
import pg from 'pg'
import { cloneAgent } from '../server/agents/records/clone-agent.ts'
import { createAgent } from '../server/agents/records/create-agent.ts'
import { deleteAgent } from '../server/agents/records/delete-agent.ts'
import { readConfig } from '../server/config.ts'
import { type Context, createContext } from '../server/context.ts'
import { jobKinds } from '../server/features.ts'
import { copySources } from '../server/knowledge/sources/copy-sources.ts'
import { createSource } from '../server/knowledge/sources/create-source.ts'
import { trainSource } from '../server/knowledge/training/train-source.ts'
import type { AccountId } from '../server/platform/db/tables/columns.ts'
import { rebuildIndexTables, vacuumChanged } from '../server/platform/db/upkeep/vacuum.ts'
import { load, percentiles, round } from './load.ts'
import { random, sentence } from './random-text.ts'
import { type Prepared, prepare, start, stop } from './service.ts'

const RUNS = 5
const SEARCHES = 60
const AT_ONCE = 16
const CHUNKS_A_SOURCE = 500
const KEYS = 60

type World = {
  prepared: Prepared
  accountId: AccountId
  agentId: string
  /** The number of chunks that the agent has after its training. */
  chunks: number
  ctx: Context
  close(): Promise<void>
}

type Section = (server: string | null) => Promise<object[]>

/** The measurements by name. Those that need several processes run on PostgreSQL alone. */
const SECTIONS: Record<string, Section> = {
  cold: async (server) => {
    const results: object[] = []
    for (const size of server ? [20_000, 100_000] : [20_000]) results.push(await coldStart(server, size))
    return results
  },
  together: (server) => inWorld(server, 20_000, searchesTogether),
  ingesting: (server) => inWorld(server, 20_000, besideIngesting),
  agents: (server) => inWorld(server, 200, manyAgents),
  changed: async (server) => (server ? inWorld(server, 2_000, changedElsewhere) : []),
  chats: async (server) => (server ? inWorld(server, 20_000, chatsBesideTraining) : []),
  vacuum: (server) => inWorld(server, 20_000, besideVacuum),
  size: (server) => inWorld(server, 2_000, sizeAfterAgents),
  eight: async (server) => (server ? [] : eightChats()),
}

/** Measures the index in the database: all sections, or those with these names. */
export async function* indexScenario(
  server: string | null,
  names: readonly string[] = Object.keys(SECTIONS),
): AsyncIterable<object> {
  for (const name of names) {
    const about = { section: name, database: server ? 'PostgreSQL' : 'embedded', load: round(loadavg()[0]!) }
    for (const result of await SECTIONS[name]!(server))
      yield { ...about, date: new Date().toISOString(), ...result }
  }
}

async function inWorld(
  server: string | null,
  chunks: number,
  measure: (world: World) => Promise<object>,
): Promise<object[]> {
  const world = await openWorld(server, chunks)
  try {
    return [{ chunks: world.chunks, ...(await measure(world)) }]
  } finally {
    await world.close()
  }
}

/** Opens a database with an agent whose sources were trained as an owner's are. */
async function openWorld(
  server: string | null,
  chunks: number,
  settings: Record<string, string> = {},
): Promise<World> {
  const prepared = await prepare(server, KEYS)
  const { accountId, agentId } = prepared
  const env = Object.assign(prepared.env, settings)
  const ctx = await createContext(readConfig(env))
  await fill(ctx, accountId, agentId, chunks)
  await sql`vacuum analyze`.execute(ctx.db)
  return {
    prepared,
    accountId,
    agentId,
    chunks: await countChunks(ctx, agentId),
    ctx,
    async close() {
      await ctx.close()
      await prepared.remove()
    },
  }
}

const codeOf = (chunk: number): string => `K${chunk * 7_919}`

/** Returns a text whose sections each become one chunk with a unique code. */
function textOf(from: number, count: number, seed = 7): string {
  const next = random(seed + from)
  const section = (chunk: number): string => {
    const body = Array.from({ length: 9 }, () => sentence(next, 12)).join(' ')
    return `## ${sentence(next, 4)}\n\nThe code of device ${chunk} is ${codeOf(chunk)}. ${body}`
  }
  return Array.from({ length: count }, (_, i) => section(from + i)).join('\n\n')
}

async function fill(ctx: Context, accountId: AccountId, agentId: string, chunks: number): Promise<void> {
  const signal = new AbortController().signal
  for (let from = 0; from < chunks; from += CHUNKS_A_SOURCE) {
    const content = textOf(from, Math.min(CHUNKS_A_SOURCE, chunks - from))
    const source = { type: 'text' as const, name: `Source ${from}`, content }
    const row = await createSource(ctx, { id: accountId, plan: 'unlimited' }, agentId, source)
    const version = row.content_version
    await trainSource(ctx, { sourceId: row.id, version }, { signal, isLast: () => true })
  }
}

async function countChunks(ctx: Context, agentId: string): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select count(*)::int as n from chunks where agent_id = ${agentId}`.execute(ctx.db)
  return rows[0]!.n
}

/** Searches as a chat does, which reads the agent's row before. Returns the time. */
async function search({ ctx, accountId }: World, agentId: string, question: string): Promise<number> {
  const begun = performance.now()
  const { knowledge_version } = await ctx.db
    .selectFrom('agents')
    .select('knowledge_version')
    .where('account_id', '=', accountId)
    .where('id', '=', agentId)
    .executeTakeFirstOrThrow()
  const agent = { id: agentId, accountId, knowledgeVersion: knowledge_version }
  await ctx.knowledge.search(agent, [question], { limit: 8 })
  return performance.now() - begun
}

async function searches(world: World, count: number, seed: number): Promise<number[]> {
  const next = random(seed)
  const times: number[] = []
  for (let i = 0; i < count; i++) times.push(await search(world, world.agentId, sentence(next, 9)))
  return times
}

/** Searches one after another while the work continues. */
async function searchesBeside(world: World, work: Promise<unknown>, seed: number): Promise<number[]> {
  let isOver = false
  const times: number[] = []
  const next = random(seed)
  const watched = work.finally(() => {
    isOver = true
  })
  while (!isOver) times.push(await search(world, world.agentId, sentence(next, 9)))
  await watched
  return times
}

const median = (values: readonly number[]): number =>
  round(values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0)

/** Runs a measurement several times, and returns the median of each figure. */
async function medians<T extends Record<string, number>>(run: (at: number) => Promise<T>): Promise<T> {
  const results: T[] = []
  for (let at = 0; at < RUNS; at++) results.push(await run(at))
  const names = Object.keys(results[0]!) as (keyof T)[]
  return Object.fromEntries(names.map((name) => [name, median(results.map((one) => one[name]!))])) as T
}

/**
 * The time from the start of a process until it listens, and from then to the first passage of an answer; on PostgreSQL
 * also from a copy of the database that it has not read yet.
 */
async function coldStart(server: string | null, size: number): Promise<object> {
  const { ctx, prepared, chunks } = await openWorld(server, size)
  const { agentId, keys, env } = prepared
  const once = async (at: number, env: Record<string, string>) => {
    const begun = performance.now()
    const { url, child } = await start(['server/main.ts'], env)
    const startMs = performance.now() - begun
    const firstPassageMs = await firstPassage(url, agentId, keys[at]!, 777 + at)
    await stop(child)
    return { startMs, firstPassageMs }
  }
  // Only one process can open the embedded database, and PostgreSQL copies a database only while nobody is connected to it.
  await ctx.close()
  const warm = await medians((at) => once(at, env))
  const empty = server
    ? await medians(async (at) => {
        const copy = await copyOf(server, env.DATABASE_URL!)
        const result = await once(at, { ...env, DATABASE_URL: copy.url })
        await copy.drop()
        return result
      })
    : null
  await prepared.remove()
  return { chunks, ...warm, ...(empty ? { emptyCacheFirstPassageMs: empty.firstPassageMs } : {}) }
}

async function copyOf(server: string, url: string): Promise<{ url: string; drop(): Promise<void> }> {
  const name = (of: string): string => new URL(of).pathname.slice(1)
  const copy = new URL(url)
  copy.pathname = `${copy.pathname}_copy`
  const administer = async (statement: string): Promise<void> => {
    const client = new pg.Client({ connectionString: server })
    await client.connect()
    await client.query(statement)
    await client.end()
  }
  await administer(`create database ${name(copy.href)} template ${name(url)} strategy file_copy`)
  const drop = () => administer(`drop database ${name(copy.href)} with (force)`)
  return { url: copy.href, drop }
}

/** Asks for the code of a device, and returns the time to the first piece of the answer, which must hold the code. */
async function firstPassage(url: string, agentId: string, key: string, device: number): Promise<number> {
  const begun = performance.now()
  const response = await fetch(`${url}/api/v2/agents/${agentId}/chat`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ message: `What is the code of device ${device}?` }),
  })
  let first = 0
  let text = ''
  for await (const piece of response.body!) {
    text += Buffer.from(piece).toString()
    if (first === 0 && text.includes('text-delta')) first = performance.now() - begun
  }
  if (!text.includes(codeOf(device))) throw new Error(text)
  return first
}

async function searchesTogether(world: World): Promise<object> {
  await searches(world, SEARCHES, 1)
  const figures = await medians(async (at) => {
    const alone = percentiles(await searches(world, SEARCHES, 100 + at))
    const worker = (place: number) => searches(world, SEARCHES / 3, 1_000 * at + place)
    const times = await Promise.all(Array.from({ length: AT_ONCE }, (_, place) => worker(place)))
    return { aloneMs: alone.p50, aloneP95Ms: alone.p95, togetherP95Ms: percentiles(times.flat()).p95 }
  })
  return { atOnce: AT_ONCE, ...figures, times: round(figures.togetherP95Ms / figures.aloneMs) }
}

const INGESTING = 50
const INGESTED_CHUNKS = 100

async function besideIngesting(world: World): Promise<object> {
  const { ctx, accountId } = world
  await ctx.jobs.work(jobKinds(ctx))
  await searches(world, SEARCHES, 1)
  const ingest = async (at: number): Promise<void> => {
    const ids: string[] = []
    for (let i = 0; i < INGESTING; i++) {
      const account = { id: accountId, plan: 'unlimited' as const }
      const agentId = await createAgent(ctx.db, account, 'bench', { name: `a${i}` })
      const content = textOf(0, INGESTED_CHUNKS, 1_000 * at + i)
      ids.push((await createSource(ctx, account, agentId, { type: 'text', name: 'Text', content })).id)
    }
    await allTrained(ctx, ids)
  }
  const figures = await medians(async (at) => {
    const quiet = percentiles(await searches(world, SEARCHES, 100 + at))
    const begun = performance.now()
    const beside = percentiles(await searchesBeside(world, ingest(at), 200 + at))
    const seconds = (performance.now() - begun) / 1_000
    return {
      quietMs: quiet.p50,
      quietP95Ms: quiet.p95,
      besideMs: beside.p50,
      besideP95Ms: beside.p95,
      seconds,
    }
  })
  return { ingesting: INGESTING, ...figures, times: round(figures.besideMs / figures.quietMs) }
}

async function allTrained(ctx: Context, ids: readonly string[]): Promise<void> {
  for (;;) {
    const rows = await ctx.db
      .selectFrom('sources')
      .select(['status', 'error'])
      .where('id', 'in', ids)
      .where('status', '<>', 'trained')
      .execute()
    const failed = rows.find(({ status }) => status === 'failed')
    if (failed) throw new Error(String(failed.error))
    if (rows.length === 0) return
    await wait(20)
  }
}

const MANY_AGENTS = 1_000

async function manyAgents(world: World): Promise<object> {
  const ids: string[] = []
  for (let i = 0; i < MANY_AGENTS; i++) ids.push(await cloneOf(world))
  await sql`vacuum analyze`.execute(world.ctx.db)
  const next = random(3)
  await searches(world, SEARCHES, 1)
  const before = memoryHeld()
  const times: number[] = []
  for (const id of ids) times.push(await search(world, id, sentence(next, 9)))
  const after = memoryHeld()
  const grown = {
    heldMiB: round(after.held - before.held),
    residentMiB: round(after.resident - before.resident),
  }
  return { agents: MANY_AGENTS, grown, searchMs: percentiles(times) }
}

async function cloneOf({ ctx, accountId, agentId }: World): Promise<string> {
  const reactions = { copySources: copySources(ctx), copyActions: async () => {} }
  const { id, failure } = await cloneAgent(
    ctx.db,
    { id: accountId, plan: 'unlimited' },
    'bench',
    agentId,
    reactions,
  )
  if (failure !== undefined) throw failure
  return id
}

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

function memoryHeld(): { held: number; resident: number } {
  collectGarbage()
  collectGarbage()
  const { heapUsed, external, rss } = process.memoryUsage()
  return { held: (heapUsed + external) / 2 ** 20, resident: rss / 2 ** 20 }
}

/** A source of ten chunks is changed in one process, and another one is asked from the moment that it is trained. */
async function changedElsewhere({ ctx, prepared }: World): Promise<object> {
  const { agentId, env, keys } = prepared
  const [one, other] = [await start(['server/main.ts'], env), await start(['server/main.ts'], env)]
  const call = async (url: string, key: string, method: string, path: string, body: object) => {
    const response = await fetch(`${url}/api/v2/agents/${agentId}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    // biome-ignore lint/suspicious/noExplicitAny: answers of several endpoints
    const answer = (await response.json()) as any
    if (!response.ok) throw new Error(JSON.stringify(answer))
    return answer
  }
  const first = 500_000
  const content = textOf(first, 10)
  const { id } = await call(one.url, keys[0]!, 'POST', '/sources', { type: 'text', name: 'New', content })
  await allTrained(ctx, [id])
  const figures = await medians(async (at) => {
    const from = first + 100 * (at + 1)
    await call(one.url, keys[at]!, 'PUT', `/sources/${id}`, { content: textOf(from, 10) })
    await allTrained(ctx, [id])
    const trained = performance.now()
    for (let key = RUNS; ; key++) {
      const message = `What is the code of device ${from + 5}?`
      const asked = { message, stream: false }
      const { data } = await call(other.url, keys[key % KEYS]!, 'POST', '/chat', asked)
      if (JSON.stringify(data.parts).includes(codeOf(from + 5))) break
    }
    return { foundMs: performance.now() - trained }
  })
  await Promise.all([one, other].map(({ child }) => stop(child)))
  return figures
}

const CHATS = 320
const TRAINED_BESIDE = 5_000

async function chatsBesideTraining({ ctx, prepared }: World): Promise<object> {
  const { agentId, env, keys } = prepared
  const { url, child } = await start(['server/main.ts'], env)
  const next = random(5)
  const chats = () =>
    load(url, {
      concurrency: AT_ONCE,
      count: CHATS,
      mark: 'text-delta',
      end: '[DONE]',
      make: (i) => ({
        path: `/api/v2/agents/${agentId}/chat`,
        headers: { authorization: `Bearer ${keys[i % KEYS]}`, 'content-type': 'application/json' },
        body: JSON.stringify({ message: `What is the code of device ${Math.floor(next() * 20_000)}?` }),
      }),
    })
  await chats()
  const figures = await medians(async (at) => {
    const quiet = await chats()
    const content = textOf(1_000_000 * (at + 1), TRAINED_BESIDE)
    const account = { id: prepared.accountId, plan: 'unlimited' as const }
    const other = await createAgent(ctx.db, account, 'bench', { name: 'Trained beside' })
    const { id } = await createSource(ctx, account, other, { type: 'text', name: 'Long', content })
    const training = allTrained(ctx, [id])
    const beside = await chats()
    const isLonger = await Promise.race([training.then(() => 0), wait(0).then(() => 1)])
    await training
    return {
      quietMs: quiet.firstMs.p50,
      quietP95Ms: quiet.firstMs.p95,
      besideMs: beside.firstMs.p50,
      besideP95Ms: beside.firstMs.p95,
      failed: quiet.failed + beside.failed,
      trainingOutlastedChats: isLonger,
    }
  })
  await stop(child)
  return { atOnce: AT_ONCE, ...figures, times: round(figures.besideMs / figures.quietMs) }
}

/** On the embedded database a tenth of the rows, which is what it is meant for. */
async function besideVacuum(world: World): Promise<object> {
  const { ctx, chunks } = world
  const rows = ctx.embedded ? 100_000 : 1_000_000
  for (let made = chunks; made < rows; made += chunks) await cloneOf(world)
  await sql`vacuum analyze`.execute(ctx.db)
  await searches(world, SEARCHES, 1)
  const figures = await medians(async (at) => {
    await sql`delete from chunks where abs(hashtext(id::text)) % 100 = ${sql.lit(at)}`.execute(ctx.db)
    const quiet = percentiles(await searches(world, SEARCHES, 100 + at))
    const begun = performance.now()
    const vacuum = vacuumChanged(ctx.db, 1)
    const beside = percentiles(await searchesBeside(world, vacuum, 200 + at))
    const seconds = (performance.now() - begun) / 1_000
    return {
      seconds,
      quietMs: quiet.p50,
      besideMs: beside.p50,
      besideP95Ms: beside.p95,
      besideMaxMs: beside.p99,
    }
  })
  return { rows, ...figures, times: round(figures.besideMs / figures.quietMs) }
}

const MAX_SIZE = 64_000
const CHATS_AT_ONCE = 8

/** Chats at once with an agent of the embedded database that has vectors, twice as large each time until they wait long. */
async function eightChats(): Promise<object[]> {
  const embeddings = await startEmbeddings()
  const results: object[] = []
  for (let size = 1_000; size <= MAX_SIZE; size *= 2) {
    const world = await openWorld(null, size, {
      OPENAI_BASE_URL: embeddings.url,
      EMBEDDING_MODEL: 'random',
    })
    const { agentId, env, keys } = world.prepared
    await world.ctx.close()
    const { url, child } = await start(['server/main.ts'], env)
    const next = random(11)
    const chats = () =>
      load(url, {
        concurrency: CHATS_AT_ONCE,
        count: 80,
        mark: 'text-delta',
        end: '[DONE]',
        make: (i) => ({
          path: `/api/v2/agents/${agentId}/chat`,
          headers: { authorization: `Bearer ${keys[i % KEYS]}`, 'content-type': 'application/json' },
          body: JSON.stringify({ message: `${sentence(next, 9)} ${codeOf(Math.floor(next() * size))}` }),
        }),
      })
    await chats()
    const figures = await medians(async () => {
      const { firstMs, failed } = await chats()
      return { firstMs: firstMs.p50, firstP95Ms: firstMs.p95, failed }
    })
    await stop(child)
    await world.prepared.remove()
    results.push({ chunks: world.chunks, atOnce: CHATS_AT_ONCE, ...figures })
    if (figures.firstP95Ms > 1_000) break
  }
  await embeddings.close()
  return results
}

const DIMENSIONS = 384

/** Starts a server of embeddings that answers at once with a random direction for each text. */
async function startEmbeddings(): Promise<{ url: string; close(): Promise<void> }> {
  const direction = (text: string): number[] => {
    const next = random([...text].reduce((sum, letter) => (31 * sum + letter.codePointAt(0)!) >>> 0, 7))
    return Array.from({ length: DIMENSIONS }, () => next() - 0.5)
  }
  const server = createServer(async (request, response) => {
    if (request.method !== 'POST') return response.writeHead(404).end()
    const { input } = JSON.parse(await textOfStream(request)) as { input: string | string[] }
    const data = [input].flat().map((text, index) => ({ index, embedding: direction(text) }))
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ data, usage: { total_tokens: 1 } }))
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  const close = async () => {
    server.closeAllConnections()
    server.close()
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, close }
}

const MADE = 200
const MADE_AT_ONCE = 20

async function sizeAfterAgents(world: World): Promise<object> {
  const { ctx, accountId } = world
  await ctx.jobs.work(jobKinds(ctx))
  const size = async (): Promise<number> => {
    const { rows } = await sql<{ bytes: number }>`
      select pg_database_size(current_database())::float8 as bytes`.execute(ctx.db)
    return round(rows[0]!.bytes / 2 ** 20)
  }
  const fresh = await size()
  let largest = fresh
  for (let made = 0; made < MADE; made += MADE_AT_ONCE) {
    const ids: string[] = []
    for (let i = 0; i < MADE_AT_ONCE; i++) ids.push(await cloneOf(world))
    largest = Math.max(largest, await size())
    for (const agentId of ids)
      await deleteAgent(
        { ...ctx, dropReplies: async () => [], withdrawLater: async () => {} },
        { accountId, agentId },
        'bench',
      )
    await until(async () => {
      const { rows } = await sql<{ n: number }>`
        select count(*)::int as n from chunks where agent_id = any(${ids})`.execute(ctx.db)
      return rows[0]!.n === 0
    })
    await vacuumChanged(ctx.db, 1)
  }
  const after = await size()
  await rebuildIndexTables(ctx.db, ctx.embedded)
  const rebuilt = await size()
  return {
    made: MADE,
    freshMiB: fresh,
    largestMiB: largest,
    afterMiB: after,
    rebuiltMiB: rebuilt,
    times: round(after / fresh),
    rebuiltTimes: round(rebuilt / fresh),
  }
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await wait(50)
}

/**
 * `node bench/index.ts [--postgres URL] [SECTION …]` measures on one database, and replaces these sections in
 * bench/results/index.json. `--postgres` takes a server on which databases may be created.
 */
async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { postgres: { type: 'string' } },
    allowPositionals: true,
  })
  const names = positionals.length > 0 ? positionals : Object.keys(SECTIONS)
  const file = new URL('./results/index.json', import.meta.url)
  for await (const result of indexScenario(values.postgres ?? null, names)) {
    console.log(JSON.stringify(result))
    const { section, database, chunks } = result as Record<string, unknown>
    const before: Record<string, unknown>[] = existsSync(file)
      ? JSON.parse(readFileSync(file, 'utf8')).results
      : []
    const others = before.filter(
      (one) => one.section !== section || one.database !== database || one.chunks !== chunks,
    )
    const machine = {
      date: new Date().toISOString(),
      command: 'node bench/index.ts',
      node: process.version,
      processor: cpus()[0]?.model,
      cores: availableParallelism(),
      memoryGiB: Math.round(totalmem() / 2 ** 30),
    }
    writeFileSync(file, `${JSON.stringify({ machine, results: [...others, result] }, null, 2)}\n`)
  }
}

if (import.meta.main) await main()
