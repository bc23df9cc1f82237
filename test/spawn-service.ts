import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after } from 'node:test'
import { createPostgresDatabase, dropPostgresDatabase, keptCluster } from './database.ts'

// Processes left behind by a failed test would keep the test file from ending.
const children = new Set<ChildProcess>()
after(() => {
  for (const child of children) child.kill('SIGKILL')
})

const root = resolve(import.meta.dirname, '..')

export type Home = {
  /** Contains DATA_DIR and, on PostgreSQL, DATABASE_URL. */
  env: Record<string, string>
  folder: string
  remove(): Promise<void>
}

/**
 * Creates a data folder, and a database on the PostgreSQL server under test (or on `server`) unless `embedded` is
 * set. The database has all tables without any rows, which saves seconds, or with `empty` is as before the first
 * start.
 */
export async function newHome({
  embedded = false,
  empty = false,
  server: wanted = process.env.TEST_DATABASE_URL,
} = {}): Promise<Home> {
  const server = embedded ? undefined : wanted
  const folder = mkdtempSync(join(tmpdir(), 'parley-home-'))
  const url = server ? await createPostgresDatabase(server, { empty }) : null
  if (!server && !empty) {
    const database = join(folder, 'database')
    mkdirSync(database)
    execFileSync('tar', ['-xf', await keptCluster({ empty }), '-C', database], { stdio: 'ignore' })
  }
  return {
    env: {
      DATA_DIR: folder,
      PORT: '0',
      LOG_LEVEL: 'error',
      SEED_DEMO: '0',
      ...(url ? { DATABASE_URL: url } : {}),
    },
    folder,
    async remove() {
      if (server && url) await dropPostgresDatabase(server, url)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export type Running = {
  url: string
  output: string
  /** Whether the process is still running. */
  isAlive(): boolean
  /** Sends a signal without waiting for its effect. */
  signal(signal: NodeJS.Signals): void
  kill(signal: NodeJS.Signals): Promise<number | null>
}

/**
 * Starts the service in a separate process and waits until it reports that it is listening. `flags` are passed to
 * Node. The program is that of `folder`, which is another version in some tests.
 */
export async function spawnService(
  env: Record<string, string>,
  flags: string[] = [],
  { folder = root, role = 'all' }: { folder?: string; role?: 'all' | 'api' } = {},
): Promise<Running> {
  const args = [...flagsOf(env), ...flags, 'server/main.ts', role]
  const child = spawn(process.execPath, args, { cwd: folder, env: { ...base(), ...env } })
  children.add(child)
  const running: Running = {
    url: '',
    output: '',
    isAlive: () => child.exitCode === null && child.signalCode === null,
    signal: (signal) => void child.kill(signal),
    kill: (signal) => end(child, signal),
  }
  await new Promise<void>((ready, fail) => {
    const onOutput = (text: Buffer): void => {
      running.output += text.toString()
      const address = /listening on (http:\S+)\n/.exec(running.output)?.[1]
      if (address) {
        running.url = address
        ready()
      }
    }
    child.stdout.on('data', onOutput)
    child.stderr.on('data', onOutput)
    child.on('exit', (code) => fail(new Error(`the service ended with ${code}:\n${running.output}`)))
  })
  return running
}

/** Starts the service and waits for its end, for starts that are expected to fail. */
export function failedStart(env: Record<string, string>): Promise<{ code: number; stderr: string }> {
  return runNode(['server/main.ts'], env)
}

/** Runs a command of the command line, as an operator would. */
export function parley(words: string[], env: Record<string, string>, folder: string = root) {
  return runNode(['server/cli.ts', ...words], env, folder)
}

function runNode(
  args: string[],
  env: Record<string, string>,
  folder: string = root,
): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((done) => {
    execFile(
      process.execPath,
      [...flagsOf(env), ...args],
      { cwd: folder, env: { ...base(), ...env } },
      (error, stdout, stderr) => {
        done({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr })
      },
    )
  })
}

function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  return new Promise((done) => {
    // If the process has already ended, there will be no `exit` event.
    if (child.exitCode !== null || child.signalCode !== null) return done(child.exitCode)
    child.removeAllListeners('exit')
    child.on('exit', (code) => done(code))
    child.kill(signal)
  })
}

/** A process of a test ends before the compilation of optimized code for the embedded database would pay off. */
const flagsOf = ({ DATABASE_URL }: Record<string, string>): string[] =>
  DATABASE_URL === undefined ? ['--liftoff-only'] : []

/** Returns the environment without the variables that developers may have set for their own instance. */
function base(): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE } = process.env
  return { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE }
}
