import { join } from 'node:path'
import { PGlite, types as pgliteTypes } from '@electric-sql/pglite'
import { Kysely, PostgresDialect, type Transaction } from 'kysely'
import pg from 'pg'
import { embeddedDialect } from './embedded-dialect.ts'
import { lockFolder } from './folder-lock.ts'
import { namedClient } from './named-client.ts'
import type { Tables } from './tables.ts'

/** Kysely over every table; a transaction has the same type, so nothing needs a variant for it. */
export type Db = Kysely<Tables>
export type Trx = Transaction<Tables>

export type Database = {
  db: Db
  /** null: embedded. */
  url: string | null
  embedded: boolean
  close(): Promise<void>
}

const INT8 = 20

/** Opens PostgreSQL by its URL. Whole numbers come as JavaScript numbers on both databases. */
export function openPostgres(url: string, poolSize = 20): Database {
  const pool = new pg.Pool({
    connectionString: url,
    max: poolSize,
    Client: namedClient(),
    connectionTimeoutMillis: 10_000,
    types: {
      getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
        oid === INT8
          ? Number
          : pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser,
    },
  })
  // An idle connection that the server closes must not end the process; the next query opens a new one.
  pool.on('error', () => {})
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  return {
    db,
    url,
    embedded: false,
    close: () => db.destroy(),
  }
}

/** Opens the embedded database in `folder` and locks the folder; `memory` keeps everything in memory (tests). */
export async function openEmbedded(folder: string | 'memory', snapshot?: Blob): Promise<Database> {
  const lock = folder === 'memory' ? null : lockFolder(folder)
  try {
    const pglite = await PGlite.create({
      ...(folder === 'memory' ? {} : { dataDir: join(folder, 'database') }),
      ...(snapshot ? { loadDataDir: snapshot } : {}),
      parsers: { [pgliteTypes.INT8]: Number },
    })
    const db = new Kysely<Tables>({ dialect: embeddedDialect(pglite) })
    return {
      db,
      url: null,
      embedded: true,
      async close() {
        await db.destroy()
        lock?.release()
      },
    }
  } catch (error) {
    lock?.release()
    throw error
  }
}
