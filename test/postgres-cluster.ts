import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'

export const OLDEST = 15

/** A PostgreSQL server for a test, run by an unprivileged user. */
export type Cluster = {
  /** The URL of its administrative database, for the superuser. */
  url: string
  /** Returns the server's log. */
  log(): string
  /** Stops the server with a mode of pg_ctl: `fast` ends the sessions, `immediate` simulates a crash. */
  stop(mode: 'fast' | 'immediate'): Promise<void>
  start(): Promise<void>
  restart(mode: 'fast' | 'immediate'): Promise<void>
  /** Sends SIGSTOP to all its processes, so that connections stay open but get no responses. `thaw` sends SIGCONT. */
  freeze(): void
  thaw(): void
  /** Ends all sessions except those of the test's own tools, and returns how many there were. */
  terminateSessions(): Promise<number>
  /** Runs a query as the superuser. */
  query<Row extends object>(text: string, values?: unknown[]): Promise<Row[]>
  remove(): Promise<void>
}

/** Finds the programs of PostgreSQL: those in the folder POSTGRES_BIN, or else the newest that are installed. */
export function findBinaries(): string | null {
  if (process.env.POSTGRES_BIN) return process.env.POSTGRES_BIN
  const folder = '/usr/lib/postgresql'
  const versions = existsSync(folder)
    ? readdirSync(folder)
        .map(Number)
        .filter((version) => version >= OLDEST)
    : []
  const newest = versions
    .sort((a, b) => b - a)
    .find((version) => existsSync(`${folder}/${version}/bin/initdb`))
  if (newest) return `${folder}/${newest}/bin`
  const onPath = spawnSync('pg_config', ['--bindir'], { encoding: 'utf8' }).stdout?.trim()
  return onPath && existsSync(join(onPath, 'initdb')) ? onPath : null
}

/** The application name of the test's own sessions. */
const TOOL = 'parley-test-tool'

/** Starts a server. PostgreSQL refuses to run as root, so for root everything is done as the user postgres. */
export async function startCluster(
  bin: string,
  settings: Record<string, string | number> = {},
): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-pg-'))
  const isRoot = process.getuid?.() === 0
  if (isRoot) {
    const [uid, gid] = ['-u', '-g'].map((flag) =>
      Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' })),
    )
    chownSync(folder, uid!, gid!)
  }
  const data = join(folder, 'data')
  const logFile = join(folder, 'log')
  const port = await freePort()
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  const run = async (program: string, args: string[]): Promise<void> => {
    const command = `${bin}/${program}`
    const [first, rest] = isRoot ? ['runuser', ['-u', 'postgres', '--', command, ...args]] : [command, args]
    await promisify(execFile)(first as string, rest as string[], { cwd: folder })
  }
  const control = (...args: string[]): Promise<void> => run('pg_ctl', ['-D', data, ...args])
  const options = Object.entries({
    listen_addresses: '127.0.0.1',
    max_connections: 200,
    // The tests kill processes but never crash the machine, so there is no need to wait for the disk.
    fsync: 'off',
    full_page_writes: 'off',
    ...settings,
  }).map(([name, value]) => `-c ${name}=${value}`)
  const start = (): Promise<void> =>
    control('-l', logFile, '-o', `-p ${port} -k ${folder} ${options.join(' ')}`, '-w', 'start')

  const query = async <Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> => {
    const client = new pg.Client({ connectionString: url, application_name: TOOL })
    client.on('error', () => {})
    await client.connect()
    try {
      return (await client.query<Row>(text, values)).rows
    } finally {
      await client.end()
    }
  }
  const signal = (name: 'SIGSTOP' | 'SIGCONT'): void => {
    const main = Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0])
    // The parent is stopped first, so that it cannot start children that would be missed.
    for (const pid of [main, ...(name === 'SIGSTOP' ? childrenOf(main) : childrenOf(main).reverse())]) {
      try {
        process.kill(pid, name)
      } catch {}
    }
  }

  const locale = ['-E', 'UTF8', '--locale=C.UTF-8']
  await run('initdb', ['-D', data, '-A', 'trust', '-U', 'postgres', '--no-sync', ...locale])
  await start()
  return {
    url,
    log: () => readFileSync(logFile, 'utf8'),
    stop: (mode) => control('-m', mode, '-w', 'stop'),
    start,
    restart: (mode) => control('-l', logFile, '-m', mode, '-w', 'restart'),
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    async terminateSessions() {
      const ended = await query(
        `select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'client backend' and application_name <> '${TOOL}'`,
      )
      return ended.length
    },
    query,
    async remove() {
      signal('SIGCONT')
      await control('-m', 'immediate', '-w', 'stop').catch(() => {})
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[1]) === parent
      } catch {
        return false
      }
    })
    .map(Number)
}

/** Returns the log entry of each deadlock, with the statements involved. */
export function deadlocksIn(log: string): string[] {
  const entries = log.split(/^(?=\S.*?\b(?:LOG|ERROR|FATAL|PANIC|WARNING|NOTICE): )/m)
  return entries.filter((entry) => /\bERROR:\s+deadlock detected/.test(entry)).map((entry) => entry.trim())
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}
