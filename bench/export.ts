import { spawn } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { sql } from 'kysely'
import type { Db } from '../server/platform/db/database.ts'
import { addManyConversations } from './many-conversations.ts'
import { prepare } from './service.ts'

type ExportResult = {
  scenario: 'export'
  database: string
  command: string
  conversations: number
  seconds: number
  megabytes: number
  /** The peak resident memory of the command's process, whose heap is limited to 96 MB. */
  peakMegabytes: number
}

const HEAP_MB = 96
// The size of the young generation in MB. With the default of 16, V8 reaches the limit because of unreturned pages
// and spends its time on garbage collection.
const YOUNG_MB = 4

/** Measures the memory of the commands that write everything. It must not depend on the amount of data. */
export async function exportScenario(server: string | null, conversations: number): Promise<ExportResult[]> {
  const prepared = await prepare(server, 1, async (db, { accountId, agentId }) => {
    await addManyConversations(db, { accountId, agentId }, conversations)
    await giveToOneUser(db, agentId)
  })
  const folder = await mkdtemp(join(tmpdir(), 'parley-bench-export-'))
  const { agentId, accountId, env } = prepared
  const file = join(folder, 'out')
  const typed = [
    ['conversations', 'export', '--agent', agentId, '--format', 'ndjson', file],
    ['conversations', 'export', '--agent', agentId, '--format', 'csv', file],
    ['user', 'export', '--account', accountId, '--user-id', 'user-42', file],
    ['export', accountId, file],
  ]
  const results: ExportResult[] = []
  for (const words of typed) {
    const begun = performance.now()
    const peakMegabytes = await peakOf(words, env)
    results.push({
      scenario: 'export',
      database: server ? 'PostgreSQL' : 'embedded',
      command:
        words
          .slice(0, 2)
          .filter((word) => word !== accountId)
          .join(' ') + (words.includes('csv') ? ' csv' : ''),
      conversations,
      seconds: Math.round((performance.now() - begun) / 100) / 10,
      megabytes: Math.round(statSync(file).size / 1e6),
      peakMegabytes,
    })
  }
  await rm(folder, { recursive: true })
  await prepared.remove()
  return results
}

/** The filter matches a third of the conversations. */
async function giveToOneUser(db: Db, agentId: string): Promise<void> {
  await db.connection().execute(async (one) => {
    await sql`alter table conversations disable trigger user`.execute(one)
    await sql`update conversations set user_id = 'user-42' where agent_id = ${agentId} and user_id is not null`.execute(
      one,
    )
    await sql`alter table conversations enable trigger user`.execute(one)
  })
}

async function peakOf(words: string[], env: Record<string, string>): Promise<number> {
  const limits = [`--max-old-space-size=${HEAP_MB}`, `--max-semi-space-size=${YOUNG_MB}`]
  const args = [...limits, 'server/cli.ts', ...words]
  const child = spawn(process.execPath, args, {
    cwd: resolve(import.meta.dirname, '..'),
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  let peak = 0
  const timer = setInterval(() => {
    try {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
      peak = Math.max(peak, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0))
    } catch {
      // The process has just ended.
    }
  }, 20)
  const code = await new Promise((done) => child.on('exit', done))
  clearInterval(timer)
  if (code !== 0) throw new Error(`${words.join(' ')} ended with ${code}`)
  return Math.round(peak / 1024)
}
