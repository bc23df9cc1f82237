import { sql } from 'kysely'
import type { Db } from './database.ts'

const OLDEST = 15

/** The database server cannot be used. */
export class DatabaseRefused extends Error {
  override name = 'DatabaseRefused'
}

/** Throws DatabaseRefused for a PostgreSQL older than 15. */
export async function requireServerVersion(db: Db): Promise<void> {
  const { rows } = await sql<{ server_version_num: string }>`show server_version_num`.execute(db)
  const major = Math.floor(Number(rows[0]?.server_version_num) / 10_000)
  if (major >= OLDEST) return
  throw new DatabaseRefused(`PostgreSQL ${major} is too old: Parley needs ${OLDEST} or newer.`)
}
