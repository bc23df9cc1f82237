import type { ChildProcess } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { createKey } from '../server/accounts/keys/keys.ts'
import { createAccount } from '../server/accounts/records/accounts.ts'
import { createAgent } from '../server/agents/records/create-agent.ts'
import { createPostgresDatabase, dropPostgresDatabase } from '../test/database.ts'
import { type Figures, load, type Request, round } from './load.ts'
import { prepare, start, stop } from './service.ts'

/** The cost of a load, and the cost of the same load for the floor. */
export type TurnResult = {
  scenario: 'turn'
  what: string
  concurrency: number
  perSecond: number
  firstMs: number
  /** The processor time of a turn: that of the service and that of PostgreSQL. */
  serviceMs: number
  databaseMs: number
  failed: number
  /** The ratios of processor time and of the time to the first token. */
  timesFloor?: { processor: number; first: number }
}

export type RestResult = { scenario: 'turn'; what: string; startMiB: number; idlePercent: number }

const AT_ONCE = [1, 16, 32, 64]
const TURNS = Number(process.env.BENCH_TURNS ?? 800)
const ACCOUNTS = 16
const KEYS_AN_ACCOUNT = 100
const IDLE_MS = 20_000
const marks = { mark: 'word0', end: '[DONE]' }

/**
 * Measures turns whose tokens are written one by one: the floor, the service on each database, and one account
 * against sixteen.
 */
export async function* turnScenario(servers: (string | null)[]): AsyncIterable<TurnResult | RestResult> {
  const models = await start(['bench/model-server.ts', '100', 'singly'])
  const server = servers.find((one) => one !== null) ?? null
  const floors = new Map<number, TurnResult>()
  for await (const result of floorResults(models.url, server)) {
    floors.set(result.concurrency, result)
    yield result
  }
  for (const one of servers) {
    for await (const result of serviceResults(models.url, one)) {
      const floor = 'concurrency' in result ? floors.get(result.concurrency) : undefined
      if (!floor || !('concurrency' in result)) yield result
      else {
        const processor = round((result.serviceMs + result.databaseMs) / (floor.serviceMs + floor.databaseMs))
        yield { ...result, timesFloor: { processor, first: round(result.firstMs / floor.firstMs) } }
      }
    }
  }
  await stop(models.child)
}

async function* floorResults(model: string, server: string | null): AsyncIterable<TurnResult> {
  const url = server ? await createPostgresDatabase(server, { empty: true }) : null
  const floor = await start(['bench/floor.ts', model, ...(url ? [url] : [])])
  const headers = { authorization: 'Bearer floor', 'content-type': 'application/json' }
  const make = (i: number): Request => ({ path: '/', headers, body: `{"message":"Question ${i}"}` })
  await load(floor.url, { concurrency: 32, count: TURNS, make, ...marks })
  for (const concurrency of AT_ONCE)
    yield await measure('floor', server, floor, { concurrency, count: TURNS * 2, make, ...marks })
  await stop(floor.child)
  if (server && url) await dropPostgresDatabase(server, url)
}

async function* serviceResults(model: string, server: string | null): AsyncIterable<TurnResult | RestResult> {
  const name = server ? 'PostgreSQL' : 'embedded'
  const agents: { agentId: string; keys: string[] }[] = []
  const prepared = await prepare(server, 0, async (db) => {
    for (let i = 0; i < ACCOUNTS; i++) {
      const id = await createAccount(db, `Account ${i}`)
      const agentId = await createAgent(db, { id, plan: 'unlimited' }, 'bench', { name: 'Bench' })
      const keys: string[] = []
      // The rate limit of a key is 100 requests in ten seconds, so an account has as many keys as necessary.
      const wanted = i === 0 ? KEYS_AN_ACCOUNT * 4 : KEYS_AN_ACCOUNT / 2
      for (let key = 0; key < wanted; key++) keys.push((await createKey(db, id, { name: `k${key}` })).key)
      agents.push({ agentId, keys })
    }
  })
  const service = await start(['server/main.ts'], {
    ...prepared.env,
    OPENAI_BASE_URL: `${model}/v1`,
    OPENAI_MODEL: 'bench',
  })
  yield await atRest(name, service.child)
  let used = 0
  const turnOf = (accounts: number) => (): Request => {
    const i = used++
    const { agentId, keys } = agents[i % accounts]!
    return {
      path: `/api/v2/agents/${agentId}/chat`,
      headers: {
        authorization: `Bearer ${keys[Math.floor(i / accounts) % keys.length]}`,
        'content-type': 'application/json',
      },
      body: `{"message":"Question ${i}"}`,
    }
  }
  const make = turnOf(1)
  await load(service.url, { concurrency: 32, count: TURNS, make, ...marks })
  for (const concurrency of AT_ONCE) {
    await wait(2_000)
    yield await measure(name, server, service, { concurrency, count: TURNS, make, ...marks })
  }
  await wait(2_000)
  const spread = { concurrency: 32, count: TURNS, make: turnOf(ACCOUNTS), ...marks }
  yield await measure(`${name}, sixteen accounts`, server, service, spread)
  await stop(service.child)
  await prepared.remove()
}

type Started = { url: string; child: ChildProcess }

async function measure(
  what: string,
  server: string | null,
  { url, child }: Started,
  wanted: Parameters<typeof load>[1],
): Promise<TurnResult> {
  const postmaster = server ? await postmasterOf(server) : null
  const spent = () => [msOf(child.pid!), postmaster === null ? 0 : msOfFamily(postmaster)] as const
  const before = spent()
  const figures: Figures = await load(url, wanted)
  const after = spent()
  const [serviceMs, databaseMs] = [0, 1].map((i) => round((after[i]! - before[i]!) / wanted.count))
  return {
    scenario: 'turn',
    what,
    concurrency: wanted.concurrency,
    perSecond: figures.perSecond,
    firstMs: figures.firstMs.p50,
    serviceMs: serviceMs!,
    databaseMs: databaseMs!,
    failed: figures.failed,
  }
}

async function atRest(what: string, { pid }: ChildProcess): Promise<RestResult> {
  await wait(5_000)
  const kilobytes = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
  const before = msOf(pid!)
  await wait(IDLE_MS)
  const idlePercent = round(((msOf(pid!) - before) / IDLE_MS) * 100)
  return { scenario: 'turn', what: `${what}, at rest`, startMiB: Math.round(kilobytes / 1024), idlePercent }
}

/** The processes on this machine; null when the server is elsewhere. */
async function postmasterOf(server: string): Promise<number | null> {
  const client = new pg.Client({ connectionString: server })
  await client.connect()
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  const parent = Number(statOf(rows[0]?.pid ?? 0)?.[1]) || null
  await client.end()
  return parent
}

/** The fields of /proc/PID/stat after the name: state, parent, … */
function statOf(pid: number | string): string[] | null {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? null
  } catch {
    return null
  }
}

const TICK_MS = 10
const sum = (fields: string[] | null, from: number, to: number): number =>
  (fields ?? []).slice(from, to).reduce((total, field) => total + Number(field) * TICK_MS, 0)

/** Returns the processor time so far, in milliseconds. */
const msOf = (pid: number): number => sum(statOf(pid), 11, 13)

/** Sums the processor time of a process and its children, including those that have ended. */
function msOfFamily(parent: number): number {
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(statOf)
    .filter((fields) => Number(fields?.[1]) === parent)
  return children.reduce((total, fields) => total + sum(fields, 11, 13), sum(statOf(parent), 11, 15))
}
