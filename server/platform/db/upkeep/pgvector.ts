import { sql } from 'kysely'
import { codeOf } from '../../unknown-values.ts'
import type { Db } from '../database.ts'

/** What a PostgreSQL server lacks to store vectors, in a sentence that says what to do. */
const NO_PGVECTOR =
  'The extension pgvector (0.8 or newer) is not available in the database, so documents are searched by their words alone. Install its package on the database server, then run in this database, as a superuser: create extension vector; Vectors are then made in the background.'
const NOT_CREATED =
  'The extension pgvector has not been created in the database, so documents are searched by their words alone. Run in this database, as a superuser: create extension vector; Vectors are then made in the background.'
const TOO_OLD =
  'The extension pgvector is older than 0.8 in the database, so documents are searched by their words alone. Run in this database, as its owner: alter extension vector update; Vectors are then made in the background.'

/** An arbitrary number that must be the same in every process. */
const CREATING_LOCK = 7_275_396
const INSUFFICIENT_PRIVILEGE = '42501'

/** Whether the database can store vectors now. */
export async function hasPgvector(db: Db): Promise<boolean> {
  return (await stateOf(db)) === 'ready'
}

/** When it was last tried in vain to create the extension in a database. */
const refusedAt = new WeakMap<Db, number>()
const TRY_AGAIN_MS = 60_000

/** Whether the database can store vectors, if need be after the extension has been created. It tries that once a minute. */
export async function canHavePgvector(db: Db): Promise<boolean> {
  if (performance.now() - (refusedAt.get(db) ?? Number.NEGATIVE_INFINITY) < TRY_AGAIN_MS)
    return hasPgvector(db)
  if ((await preparePgvector(db)) === null) return true
  refusedAt.set(db, performance.now())
  return false
}

/** Creates the extension if it is available and the role may. Returns null, or what is missing in a sentence. */
export async function preparePgvector(db: Db): Promise<string | null> {
  const state = await stateOf(db)
  if (state === 'ready') return null
  if (state === 'old') return TOO_OLD
  const { rows } = await sql`select from pg_available_extensions where name = 'vector'`.execute(db)
  if (rows.length === 0) return NO_PGVECTOR
  try {
    await db.transaction().execute(async (trx) => {
      // Two processes that create it at once would both fail.
      await sql`select pg_advisory_xact_lock(${sql.lit(CREATING_LOCK)})`.execute(trx)
      await sql`create extension if not exists vector`.execute(trx)
    })
  } catch (error) {
    if (codeOf(error) === INSUFFICIENT_PRIVILEGE) return NOT_CREATED
    throw error
  }
  return (await stateOf(db)) === 'ready' ? null : TOO_OLD
}

/** Returns what is missing in a sentence, or null. Changes nothing. */
export async function lackOfPgvector(db: Db): Promise<string | null> {
  const state = await stateOf(db)
  if (state === 'ready') return null
  return state === 'old' ? TOO_OLD : NO_PGVECTOR
}

async function stateOf(db: Db): Promise<'ready' | 'old' | 'none'> {
  const { rows } = await sql<{ fits: boolean }>`
    select string_to_array(extversion, '.')::int[] >= '{0,8}' as fits from pg_extension
    where extname = 'vector'`.execute(db)
  if (!rows[0]) return 'none'
  return rows[0].fits ? 'ready' : 'old'
}
