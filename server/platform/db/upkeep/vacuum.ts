import { sql } from 'kysely'
import type { Db } from '../database.ts'

const TIMES = { everyMs: 10 * 60_000, quietMs: 10_000, latestMs: 60 * 60_000 }
const ENOUGH_CHANGES = 5_000

/**
 * The embedded database has no autovacuum, so tables would grow and plans become outdated. Every ten minutes, this
 * vacuums the tables with enough changed rows, once nothing has happened for ten seconds and after an hour in any case:
 * it blocks the database for two seconds per 100,000 passages.
 */
export function scheduleVacuum(
  db: Db,
  lastActive: () => number,
  onError: (error: unknown) => void,
  { everyMs, quietMs, latestMs } = TIMES,
): { stop(): void } {
  let vacuumedAt = performance.now()
  const timer = setInterval(() => {
    const now = performance.now()
    const isDue = now - vacuumedAt >= (now - lastActive() >= quietMs ? everyMs : latestMs)
    if (!isDue) return
    vacuumedAt = now
    void vacuumChanged(db).catch(onError)
  }, quietMs)
  timer.unref()
  return { stop: () => clearInterval(timer) }
}

/** Vacuums and analyses every table that has at least `changes` changed rows. Returns the names of these tables. */
export async function vacuumChanged(db: Db, changes = ENOUGH_CHANGES): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select quote_ident(schemaname) || '.' || quote_ident(relname) as name from pg_stat_user_tables
    where n_dead_tup + n_mod_since_analyze >= ${changes}`.execute(db)
  for (const { name } of rows) await sql.raw(`vacuum (analyze) ${name}`).execute(db)
  return rows.map(({ name }) => name)
}

/** Returns the tables that hold the words and vectors of documents. `rows` is the count of the last vacuum. */
export async function indexTables(db: Db): Promise<{ name: string; bytes: number; rows: number }[]> {
  const { rows } = await sql<{ name: string; bytes: number; rows: number }>`
    select oid::regclass::text as name, pg_total_relation_size(oid) as bytes,
      greatest(reltuples, 0)::bigint as rows from pg_class
    where relkind = 'r' and relispartition and relnamespace = 'public'::regnamespace
      and relname ~ '^(vectors_[0-9]+|chunk_words)_[0-9]+$' order by 1`.execute(db)
  return rows
}

/**
 * Vacuums these tables and the one of the texts, and rebuilds their indexes, on a server while it is used. Returns how
 * many tables hold words and vectors, and their bytes before and after.
 */
export async function rebuildIndexTables(
  db: Db,
  embedded: boolean,
): Promise<{ tables: number; before: number; after: number }> {
  const sum = (tables: { bytes: number }[]) => tables.reduce((all, { bytes }) => all + bytes, 0)
  const tables = await indexTables(db)
  for (const name of ['chunks', ...tables.map((table) => table.name)]) {
    await sql`vacuum (analyze) ${sql.id(name)}`.execute(db)
    await sql`reindex table ${embedded ? sql`` : sql`concurrently`} ${sql.id(name)}`.execute(db)
  }
  return { tables: tables.length, before: sum(tables), after: sum(await indexTables(db)) }
}

/** The longest time between two vacuums of a table with dead rows, so that erased rows are gone within a day. */
const DEAD_FOR = sql`interval '20 hours'`

/**
 * Removes deleted rows from the files. A server vacuums the tables that have dead rows and have not been vacuumed lately.
 * The embedded database rewrites the tables of which rows were deleted and replaces the write-ahead log, because a plain
 * vacuum leaves the bytes on the disk until they are overwritten. Returns the names of the tables.
 */
export async function removeDeleted(db: Db, embedded: boolean): Promise<string[]> {
  return db.connection().execute(async (session) => {
    const { rows } = await sql<{ name: string; relid: number }>`
      select relid::int, quote_ident(schemaname) || '.' || quote_ident(relname) as name from pg_stat_user_tables
      where ${
        embedded
          ? sql`n_tup_del > 0`
          : sql`n_dead_tup > 0 and coalesce(greatest(last_vacuum, last_autovacuum), '-infinity') < now() - ${DEAD_FOR}`
      } order by 2`.execute(session)
    // A vacuum takes longer than the statements of the service may.
    await sql`set statement_timeout = 0`.execute(session)
    try {
      for (const { name, relid } of rows) {
        await sql.raw(`vacuum ${embedded ? '(full, analyze)' : ''} ${name}`).execute(session)
        if (embedded) await sql`select pg_stat_reset_single_table_counters(${relid})`.execute(session)
      }
      if (!embedded || rows.length === 0) return rows.map(({ name }) => name)
      await sql`set wal_recycle = off`.execute(session)
      await sql`select pg_switch_wal()`.execute(session)
      await sql`checkpoint`.execute(session)
      await sql`reset wal_recycle`.execute(session)
      return rows.map(({ name }) => name)
    } finally {
      await sql`reset statement_timeout`.execute(session)
    }
  })
}
