import { sql } from 'kysely'
import { codeOf } from '../../unknown-values.ts'
import type { Db } from '../database.ts'

/** An index that is built outside of a transaction, while its table is in use. */
type Index = { name: string; table: string; statement: string }

/** The code of PostgreSQL for `deadlock_detected`. */
const DEADLOCK = '40P01'
const MAX_TRIES = 10

/**
 * Returns the indexes that a migration builds concurrently, or null if it has none and runs in a transaction. Throws if
 * it contains anything else beside them.
 */
export function readIndexes({ name, text }: { name: string; text: string }): Index[] | null {
  const statements = text
    .replace(/^\s*--.*$/gm, '')
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')
  const indexes = statements.map((statement) => {
    const [, index, table] = /^create (?:unique )?index concurrently (\w+)\s+on (\w+)\b/.exec(statement) ?? []
    return index && table ? { name: index, table, statement } : null
  })
  const found = indexes.filter((index) => index !== null)
  if (found.length === 0) return null
  if (found.length < indexes.length)
    throw new Error(
      `${name}: a migration that builds indexes concurrently contains only statements of the form "create [unique] index concurrently NAME on TABLE …", because it does not run in a transaction.`,
    )
  return found
}

/**
 * Builds the indexes that do not exist yet. An invalid one, which an interrupted build leaves behind, is built again. On
 * the embedded database, which has no other sessions, they are not built concurrently.
 */
export async function buildIndexes(session: Db, indexes: Index[]): Promise<void> {
  const { rows } = await sql<{ embedded: boolean }>`select version() like '%PGlite%' as embedded`.execute(
    session,
  )
  const how = rows[0]?.embedded ? '' : ' concurrently'
  for (const index of indexes) {
    for (let tries = 1; !(await isRendered(session, index, how)); tries++) {
      const statement = index.statement.replace(/\bindex concurrently\b/, `index${how}`)
      await sql
        .raw(statement)
        .execute(session)
        .catch((error: unknown) => {
          if (codeOf(error) !== DEADLOCK || tries === MAX_TRIES) throw error
        })
    }
  }
}

/** Returns whether the index exists and is valid. Removes an invalid one. */
async function isRendered(session: Db, { name }: Index, how: string): Promise<boolean> {
  const { rows } = await sql<{ valid: boolean }>`
    select indisvalid as valid from pg_index where indexrelid = to_regclass(${name})`.execute(session)
  if (rows[0] && !rows[0].valid) await sql.raw(`drop index${how} ${name}`).execute(session)
  return rows[0]?.valid === true
}
