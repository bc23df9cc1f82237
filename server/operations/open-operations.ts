import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { pino } from 'pino'
import type { Config } from '../config.ts'
import type { Generations } from '../conversations/generations.ts'
import { stopGeneration } from '../conversations/stop-generation.ts'
import { openEmbedded, openPostgres } from '../db/database.ts'
import { migrate } from '../db/migrate.ts'
import type { Notifier } from '../db/notifier.ts'
import { requireServerVersion } from '../db/server-version.ts'
import { createMaintenance } from '../http/maintenance.ts'
import { createKnowledge } from '../knowledge/knowledge.ts'
import { createBuiltinModel } from '../models/builtin/builtin-model.ts'
import { createModels, type Models } from '../models/models.ts'
import { loadWordVectors } from '../models/static/word-vectors.ts'
import type { Operations } from './command.ts'

/** Every process looks at the maintenance switch again within half a second. */
const SEEN_MS = 600

/** Opens the data without the service: PostgreSQL directly, the embedded database under its lock (or FolderInUse). */
export async function openOperations(config: Config): Promise<Operations & { close(): Promise<void> }> {
  const database = config.databaseUrl
    ? openPostgres(config.databaseUrl, 2)
    : await openEmbedded(config.dataDir)
  try {
    await requireServerVersion(database.db)
    await migrate(database.db)
  } catch (error) {
    await database.close()
    throw error
  }
  const { db, embedded } = database
  let models: Models | null = null
  return {
    db,
    filesDir: join(config.dataDir, 'files'),
    async setMaintenance(on) {
      await createMaintenance(db).set(on)
      if (!embedded) await wait(SEEN_MS)
    },
    // No worker runs on it now; the next start takes up what is unfinished.
    resume: async () => {},
    openKnowledge() {
      const words = loadWordVectors()
      models = createModels({ catalogue: config.catalogue, builtin: createBuiltinModel(words) })
      return createKnowledge({ db, words, embedderOf: models.embedderOf, log: pino({ level: 'silent' }) })
    },
    erasing: {
      // What has to be trained again is, at the next start of a worker.
      jobs: { enqueue: async () => {} },
      async stop(accountId, conversationId) {
        // On the embedded database nobody runs a reply now. Elsewhere its process reads of the stop within a second.
        if (embedded) return
        const generations = { get: () => null } as unknown as Generations
        const notifier = { publish: async () => {} } as unknown as Notifier
        await stopGeneration({ db, generations, notifier }, accountId, conversationId)
      },
    },
    async close() {
      await models?.close()
      await database.close()
    },
  }
}
