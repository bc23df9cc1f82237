import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import { pino } from 'pino'
import { createBuiltinModel } from '../ai/built-in/builtin-model.ts'
import { modelsFolder } from '../ai/local/fetched-models.ts'
import { createModels, type Models } from '../ai/models.ts'
import { deliverAnswer } from '../channels/outbound/deliver-answer.ts'
import type { Config } from '../config.ts'
import { createOrphans, stopGeneration } from '../conversations/turn/generations.ts'
import { createKnowledge } from '../knowledge/search/knowledge.ts'
import { requireServerVersion } from '../platform/db/connections/server-version.ts'
import { type Db, openEmbedded, openPostgres } from '../platform/db/database.ts'
import { upgrade } from '../platform/db/upkeep/upgrade.ts'
import { createMaintenance } from '../platform/http/server/gate.ts'
import { originOf } from '../platform/http/server/own-origin.ts'
import { openSecrets } from '../platform/secrets/secret-key.ts'
import type { Command, Operations } from './command.ts'
import { secretOperations } from './commands/secret-operations.ts'

/**
 * The time in milliseconds within which every process has seen the maintenance switch; each checks it every half
 * second.
 */
const SEEN_MS = 600

/**
 * The time in milliseconds within which a live process writes a beat. It writes one every half second, unless the
 * machine is very busy.
 */
const BEATS_WITHIN_MS = 3_000

/**
 * Returns whether a process of the service uses this database. One that was killed recently still has a row, but no
 * longer writes beats.
 */
async function isBeating(db: Db): Promise<boolean> {
  const read = async () =>
    (
      await sql<{
        beats: string
      }>`select coalesce(string_agg(id::text || ':' || epoch || ':' || beat, ' ' order by id), '')
      as beats from processes where alive`.execute(db)
    ).rows[0]?.beats ?? ''
  const before = await read()
  if (before === '') return false
  const begun = performance.now()
  while (performance.now() - begun < BEATS_WITHIN_MS) {
    await wait(200)
    if ((await read()) !== before) return true
  }
  return false
}

/**
 * Opens the data without the service: PostgreSQL directly, and the embedded database while holding its lock. Upgrades
 * the database unless `withoutUpgrade` is set. Throws FolderInUse.
 */
export async function openOperations(
  config: Config,
  { createIfLost, withoutUpgrade }: Pick<Command, 'createIfLost' | 'withoutUpgrade'>,
  say: (line: string) => void,
): Promise<Operations & { close(): Promise<void> }> {
  const database = config.databaseUrl
    ? openPostgres(config.databaseUrl, 2, { patient: true })
    : await openEmbedded(config.dataDir, { createIfLost: createIfLost ?? false })
  try {
    await requireServerVersion(database.db)
    if (!withoutUpgrade) await upgrade(database, config.dataDir, say)
  } catch (error) {
    await database.close()
    throw error
  }
  const { db, embedded } = database
  let opened: Models | null = null
  const models = (): Models => {
    opened ??= createModels({
      catalogue: config.catalogue,
      builtin: createBuiltinModel(),
      fetchedInto: modelsFolder(config.dataDir),
    })
    return opened
  }
  return {
    db,
    embedded,
    dataDir: config.dataDir,
    filesDir: join(config.dataDir, 'files'),
    origin: originOf(config),
    // We hold the lock of the embedded database's folder.
    isServed: async () => !embedded && (await isBeating(db)),
    secrets: secretOperations({
      db,
      embedded,
      config,
      openSecrets: () => openSecrets(db, config.secretKey, config.dataDir),
    }),
    async setMaintenance(on) {
      await createMaintenance(db).set(on)
      if (!embedded) await wait(SEEN_MS)
    },
    // No worker is running on it now; the next start resumes what is unfinished.
    resume: async () => {},
    openKnowledge: () => createKnowledge({ db, models: models(), log: pino({ level: 'silent' }) }),
    openModels: () => ({ catalogue: config.catalogue, models: models() }),
    erasing: {
      // Sources that need training are trained at the next start of a worker.
      jobs: { enqueue: async () => {} },
      async stop(accountId, conversationId) {
        // On the embedded database, nothing can be generating a reply now. On PostgreSQL, the process reads of the stop
        // within a second.
        if (embedded) return
        const generations = { get: () => null }
        const notifier = { publish: async () => {} }
        const orphans = createOrphans({
          db,
          log: pino({ level: 'silent' }),
          deliverAnswer: (...answer) => deliverAnswer({ notifier }, ...answer),
        })
        await stopGeneration({ db, generations, notifier, orphans }, accountId, conversationId)
      },
    },
    async close() {
      await opened?.close()
      await database.close()
    },
  }
}
