import { join } from 'node:path'
import { Kysely, type Transaction } from 'kysely'
import pg from 'pg'
import { ALWAYS_THERE, type Availability, guardPool } from './connections/availability.ts'
import { createLanes } from './connections/lanes.ts'
import { poolDialect } from './connections/pool-dialect.ts'
import { WatchedClient } from './connections/watched-client.ts'
import { createFolder } from './embedded/create-folder.ts'
import { lockFolder } from './embedded/folder-lock.ts'
import { requireMemory } from './embedded/memory.ts'
import { keepToOwner } from './embedded/owner-only.ts'
import { requireFilledTables, requireWholeLog } from './embedded/sound-files.ts'
import { type EmbeddedServer, startEmbedded } from './embedded/start-embedded.ts'
import type { Tables } from './tables/tables.ts'

/** Kysely over all tables. A transaction has the same type, so no function needs a second version for it. */
export type Db = Kysely<Tables>
export type Trx = Transaction<Tables>

export type Database = {
  db: Db
  /** The URL of the PostgreSQL server; null for the embedded database. */
  url: string | null
  embedded: boolean
  availability: Availability
  close(): Promise<void>
}

/** `dump` resolves to a tar archive of the data folder, which can be opened as a snapshot. */
type Embedded = Database & { dump(): Promise<Blob> }

const INT8 = 20
const SECOND = 1_000
const MAX_WAIT_MS = 5 * SECOND
/**
 * The number of connections of a pool that are always left to other accounts, because a long statement cannot be
 * preempted.
 */
const LEFT_TO_OTHERS = 3

/** Parses int8 values as JavaScript numbers. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === INT8 ? Number : pg.types.getTypeParser(oid, format),
}

/** The service's statements are short. One that hangs must not keep its locks. */
const LIMITS = {
  statement_timeout: 30 * SECOND,
  lock_timeout: 10 * SECOND,
  // Shorter than the wait for a lock: when a network loses connections, the server does not learn that their
  // transactions are abandoned, and customers wait for their locks.
  idle_in_transaction_session_timeout: 4 * SECOND,
}

/**
 * Opens a pool of connections to the PostgreSQL server at `url`. `patient` lifts the time limits on statements, for
 * commands that may take as long as they need.
 */
export function openPostgres(url: string, poolSize = 12, { patient = false } = {}): Database {
  const pool = new pg.Pool({
    Client: WatchedClient,
    connectionString: url,
    max: poolSize,
    connectionTimeoutMillis: MAX_WAIT_MS,
    // A new connection plans each of its statements five times before it keeps a plan.
    idleTimeoutMillis: 600 * SECOND,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10 * SECOND,
    ...(patient ? {} : LIMITS),
    types,
  })
  const guarded = guardPool(pool, url)
  const share = Math.max(1, poolSize - LEFT_TO_OTHERS)
  const lanes = createLanes({ places: poolSize, share, maxMs: MAX_WAIT_MS })
  const db = new Kysely<Tables>({ dialect: poolDialect(guarded, lanes) })
  return {
    db,
    url,
    embedded: false,
    availability: guarded.availability,
    close: () => db.destroy(),
  }
}

/** Returns the database of a running embedded server. `close` is called after its last connection has closed. */
export function embeddedDatabase(server: EmbeddedServer, close: () => Promise<void>): Embedded {
  const pool = new pg.Pool({
    ...server.connection,
    user: 'postgres',
    database: 'postgres',
    host: 'embedded',
    ssl: false,
    // The database has a single session, so its users take turns.
    max: 1,
    idleTimeoutMillis: 0,
    types,
  })
  const db = new Kysely<Tables>({ dialect: poolDialect(pool, createLanes()) })
  return {
    db,
    url: null,
    embedded: true,
    availability: ALWAYS_THERE,
    dump: server.dump,
    async close() {
      await db.destroy()
      await close()
    },
  }
}

/**
 * Opens the embedded database in the data folder, and locks the folder. The database is created in a new folder, and
 * with `createIfLost` also in that of an installation that has lost it. Throws FolderInUse, FolderUnusable,
 * DatabaseDamaged, StorageFull and MemoryTooSmall. `memory` keeps everything in memory, for tests.
 */
export async function openEmbedded(
  dataDir: string | 'memory',
  { createIfLost = false } = {},
): Promise<Embedded> {
  if (dataDir === 'memory') {
    const server = await startEmbedded({})
    return embeddedDatabase(server, server.close)
  }
  const lock = lockFolder(dataDir)
  let server: EmbeddedServer | null = null
  const close = async (): Promise<void> => {
    await server?.close()
    lock.release()
  }
  try {
    await createFolder(dataDir, { createIfLost })
    requireMemory('open')
    const folder = join(dataDir, 'database')
    keepToOwner(folder)
    requireWholeLog(folder)
    server = await startEmbedded({ folder })
    // Opening the database creates files.
    keepToOwner(folder)
    const database = embeddedDatabase(server, close)
    await requireFilledTables(database.db, folder)
    return database
  } catch (error) {
    await close()
    throw error
  }
}
