import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createKey } from '../server/accounts/keys/keys.ts'
import { createAccount } from '../server/accounts/records/accounts.ts'
import { createAgent } from '../server/agents/records/create-agent.ts'
import { type Db, openEmbedded, openPostgres } from '../server/platform/db/database.ts'
import type { AgentRef } from '../server/platform/db/refs.ts'
import type { AccountId } from '../server/platform/db/tables/columns.ts'
import { migrate } from '../server/platform/db/upkeep/migrate.ts'
import { createPostgresDatabase, dropPostgresDatabase } from '../test/database.ts'

const root = resolve(import.meta.dirname, '..')

/** The options of Node that `npm start` runs the service with. */
export const startOptions: string[] =
  JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).scripts.start.match(/--\S+/g) ?? []

/** Starts one of our programs and returns the first URL that it prints. */
export async function start(
  args: string[],
  env: Record<string, string> = {},
): Promise<{ url: string; child: ChildProcess }> {
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const url = await new Promise<string>((ready, fail) => {
    let output = ''
    child.stdout?.on('data', (text: Buffer) => {
      output += text.toString()
      const address = /http:\/\/[\d.]+:\d+/.exec(output)?.[0]
      if (address) ready(address)
    })
    child.on('exit', (code) => fail(new Error(`${args[0]} ended with ${code}`)))
  })
  return { url, child }
}

export const stop = (child: ChildProcess): Promise<void> =>
  new Promise((done) => {
    child.removeAllListeners('exit')
    child.on('exit', () => done())
    child.kill('SIGTERM')
  })

/** Returns the processor time of a process so far, in milliseconds. */
export function cpuMs({ pid }: ChildProcess): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10
}

export type Prepared = {
  env: Record<string, string>
  agentId: string
  accountId: AccountId
  /** The rate limit of a key is 100 requests in ten seconds, so a load needs many keys. */
  keys: string[]
  remove(): Promise<void>
}

/** Creates a database with an account, an agent and `keys` keys. `fill` adds what a scenario needs. */
export async function prepare(
  server: string | null,
  keys: number,
  fill: (db: Db, { accountId, agentId }: AgentRef) => Promise<void> = async () => {},
): Promise<Prepared> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-bench-'))
  const url = server ? await createPostgresDatabase(server) : null
  const database = url ? openPostgres(url, 5) : await openEmbedded(folder)
  await migrate(database.db)
  const accountId = await createAccount(database.db, 'Bench')
  const agentId = await createAgent(database.db, { id: accountId, plan: 'unlimited' }, 'bench', {
    name: 'Bench',
  })
  const made: string[] = []
  for (let i = 0; i < keys; i++) made.push((await createKey(database.db, accountId, { name: `k${i}` })).key)
  await fill(database.db, { accountId, agentId })
  await database.close()
  return {
    env: {
      DATA_DIR: folder,
      PORT: '0',
      LOG_LEVEL: 'error',
      SEED_DEMO: '0',
      ...(url ? { DATABASE_URL: url } : {}),
    },
    agentId,
    accountId,
    keys: made,
    async remove() {
      if (server && url) await dropPostgresDatabase(server, url)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
