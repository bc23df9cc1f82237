import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { type ScriptedModel, startScriptedModel } from '../conversation-model/scripted-model.ts'
import type { Cluster } from '../postgres-cluster.ts'
import type { Running } from '../spawn-service.ts'

/** The checkout whose service is examined; PROJECT names another one than this. */
export const PROJECT = resolve(process.env.PROJECT ?? join(import.meta.dirname, '../..'))

/** An installation as its operator and its clients see it: processes, commands, HTTP, and the rows of its database. */
export type GuardedWorld = {
  models: ScriptedModel
  services: Running[]
  agentId: string
  accountId: string
  keys: string[]
  databaseUrl: string | null
  /** Runs a command of the command line and returns its JSON. */
  command(...words: string[]): Promise<Record<string, string>>
  request(method: string, path: string, body?: unknown, place?: number): Promise<Answer>
  /** Starts the process at a place again. */
  start(place: number): Promise<void>
  /** Reads rows; on the embedded database only when no process runs. */
  rows(text: string): Promise<Record<string, string>[]>
  closed: AbortSignal
  output(): string
  close(): Promise<void>
}

// biome-ignore lint/suspicious/noExplicitAny: responses have every shape
type Answer = { status: number; headers: Headers; text: string; body: any }

type Wanted = {
  processes?: number
  /** The server for the database; without one, the database is embedded. */
  cluster?: Cluster
  /** Returns the URL with which the service reaches its database. */
  reach?: (url: string) => string
  env?: Record<string, string>
}

export async function inGuardedWorld<T>(
  wanted: Wanted,
  work: (world: GuardedWorld) => Promise<T>,
): Promise<T> {
  const world = await openWorld(wanted)
  try {
    return await work(world)
  } finally {
    await world.close()
  }
}

async function openWorld({ processes = 1, cluster, reach = (url) => url, env = {} }: Wanted) {
  const models = await startScriptedModel()
  const folder = mkdtempSync(join(tmpdir(), 'parley-guard-'))
  const name = `guard_${randomBytes(6).toString('hex')}`
  if (cluster) await cluster.query(`create database ${name}`)
  const databaseUrl = cluster ? cluster.url.replace(/\/postgres$/, `/${name}`) : null
  const settings: Record<string, string> = {
    DATA_DIR: folder,
    PORT: '0',
    LOG_LEVEL: 'error',
    SEED_DEMO: '0',
    RATE_LIMIT: '1000000/1',
    OPENAI_BASE_URL: `${models.url}/v1`,
    OPENAI_API_KEY: 'k',
    OPENAI_MODEL: 'fake',
    ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
    ...env,
  }
  const own = { ...settings, ...(databaseUrl ? { DATABASE_URL: databaseUrl } : {}) }
  const served = { ...settings, ...(databaseUrl ? { DATABASE_URL: reach(databaseUrl) } : {}) }
  const all: Running[] = []
  const services: Running[] = []
  const closing = new AbortController()
  const command = async (...words: string[]): Promise<Record<string, string>> => {
    const { stdout } = await promisify(execFile)('npm', ['run', '-s', 'parley', '--', ...words, '--json'], {
      cwd: PROJECT,
      env: { ...base(), ...own },
    })
    return JSON.parse(stdout)
  }
  const start = async (place: number): Promise<void> => {
    const service = await serve(served)
    all.push(service)
    services[place] = service
  }
  await start(0)
  const { id: accountId = '' } = await command('account', 'create', '--name', 'Guard')
  const { key = '' } = await command('keys', 'create', '--account', accountId, '--name', 'guard')
  for (let place = 1; place < processes; place++) await start(place)
  const request: GuardedWorld['request'] = (method, path, body, place = 0) =>
    ask(services[place]?.url ?? '', key, method, path, body)
  const made = await request('POST', '/api/v2/agents', { name: 'Guarded' })
  if (made.status !== 201) throw new Error(`no agent: ${made.text}`)
  const world: GuardedWorld = {
    models,
    services,
    agentId: made.body.id,
    accountId,
    keys: [key],
    databaseUrl,
    command,
    request,
    start,
    rows: (text) => (databaseUrl ? rowsOf(databaseUrl, text) : rowsInFolder(folder, text)),
    closed: closing.signal,
    output: () => all.map(({ output }) => output).join('\n'),
    async close() {
      closing.abort()
      for (const service of all) await service.kill('SIGKILL')
      await models.close()
      if (cluster) await cluster.query(`drop database if exists ${name} with (force)`).catch(() => {})
      rmSync(folder, { recursive: true, force: true })
    },
  }
  return world
}

export async function ask(
  url: string,
  key: string | null,
  method: string,
  path: string,
  body?: unknown,
  more: Record<string, string> = {},
): Promise<Answer> {
  const isRaw = typeof body === 'string' || body instanceof FormData
  const response = await fetch(url + path, {
    method,
    redirect: 'manual',
    headers: {
      ...(key ? { authorization: `Bearer ${key}` } : {}),
      ...(body === undefined || body instanceof FormData ? {} : { 'content-type': 'application/json' }),
      ...more,
    },
    ...(body === undefined ? {} : { body: isRaw ? body : JSON.stringify(body) }),
    signal: AbortSignal.timeout(30_000),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, body: parsed(text) }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Starts the service as `npm start` does, but as a direct child, so that a signal reaches it. */
async function serve(env: Record<string, string>): Promise<Running> {
  const { scripts } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8'))
  const child = spawn('sh', ['-c', scripts.start], {
    cwd: PROJECT,
    env: { ...base(), ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  children.add(child)
  const running: Running = {
    url: '',
    output: '',
    isAlive: () => child.exitCode === null && child.signalCode === null,
    signal: (signal) => send(child, signal),
    async kill(signal) {
      if (!running.isAlive()) return child.exitCode
      child.removeAllListeners('exit')
      const ended = new Promise<number | null>((done) => child.on('exit', done))
      send(child, signal)
      return ended
    },
  }
  await new Promise<void>((ready, fail) => {
    const onOutput = (text: Buffer): void => {
      running.output += text.toString()
      const address = /listening on (http:\S+)\n/.exec(running.output)?.[1]
      if (!address) return
      running.url = address
      ready()
    }
    child.stdout.on('data', onOutput)
    child.stderr.on('data', onOutput)
    child.on('exit', (code) => fail(new Error(`the service ended with ${code}:\n${running.output}`)))
  })
  return running
}

const children = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of children) send(child, 'SIGKILL')
})

function send({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (pid) process.kill(-pid, signal)
  } catch {
    // The process has ended.
  }
}

function base(): NodeJS.ProcessEnv {
  const { HOME, TMPDIR, PATH } = process.env
  return { HOME, TMPDIR, PATH: `${join(PROJECT, 'node_modules/.bin')}:${PATH}` }
}

async function rowsOf(url: string, text: string): Promise<Record<string, string>[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

async function rowsInFolder(folder: string, text: string): Promise<Record<string, string>[]> {
  const { PGlite } = await import(join(PROJECT, 'node_modules/@electric-sql/pglite/dist/index.js'))
  const database = new PGlite(join(folder, 'database'))
  try {
    return (await database.query(text)).rows
  } finally {
    await database.close()
  }
}
