import { sql } from 'kysely'
import { codeOf, messageOf } from '../../unknown-values.ts'
import type { Db } from '../database.ts'

const OLDEST = 15

/** The database server cannot be used by this program. */
export class DatabaseRefused extends Error {
  override name = 'DatabaseRefused'
}

/** The database server does not respond, or rejects our login. */
export class DatabaseUnreachable extends Error {
  override name = 'DatabaseUnreachable'
}

/** Sends the first query to a database. Throws DatabaseUnreachable, and DatabaseRefused for PostgreSQL before 15. */
export async function requireServerVersion(db: Db): Promise<void> {
  const major = Math.floor((await versionNumber(db)) / 10_000)
  if (major >= OLDEST) return
  throw new DatabaseRefused(`PostgreSQL ${major} is too old: Parley needs ${OLDEST} or newer.`)
}

async function versionNumber(db: Db): Promise<number> {
  try {
    const { rows } = await sql<{ server_version_num: string }>`show server_version_num`.execute(db)
    return Number(rows[0]?.server_version_num)
  } catch (cause) {
    throw new DatabaseUnreachable(
      `The database of DATABASE_URL cannot be used: ${messageOf(cause) || codeOf(cause)}.`,
      {
        cause,
      },
    )
  }
}
