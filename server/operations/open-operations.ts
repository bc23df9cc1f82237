import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Config } from '../config.ts'
import { type Database, openEmbedded, openPostgres } from '../db/database.ts'
import { FolderInUse } from '../db/folder-lock.ts'
import { migrate } from '../db/migrate.ts'
import { createMaintenance } from '../http/maintenance.ts'
import { CommandFailure, type Operations } from './command.ts'

const LOCK_WAIT_MS = 10_000
/** Every process looks at the maintenance switch again within half a second. */
const SEEN_MS = 600

/** Opens the data without the service: PostgreSQL directly, the embedded database under its lock. */
export async function openOperations(config: Config): Promise<Operations & { close(): Promise<void> }> {
  const database = await open(config)
  try {
    await migrate(database.db)
  } catch (error) {
    await database.close()
    throw error
  }
  const { db, embedded } = database
  return {
    db,
    filesDir: join(config.dataDir, 'files'),
    async setMaintenance(on) {
      await createMaintenance(db).set(on)
      if (!embedded) await wait(SEEN_MS)
    },
    // No worker runs on it now; the next start takes up what is unfinished.
    resume: async () => {},
    close: () => database.close(),
  }
}

async function open(config: Config): Promise<Database> {
  if (config.databaseUrl) return openPostgres(config.databaseUrl, 2)
  const until = Date.now() + LOCK_WAIT_MS
  for (;;) {
    try {
      return await openEmbedded(config.dataDir)
    } catch (error) {
      // Another command holds it for a moment; a service would have answered on its socket.
      if (!(error instanceof FolderInUse)) throw error
      if (Date.now() > until) throw new CommandFailure(error.message, 69)
      await wait(100)
    }
  }
}
