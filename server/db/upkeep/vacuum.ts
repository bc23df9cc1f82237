import { sql } from 'kysely'
import type { Db } from '../database.ts'

const EVERY_MS = 10 * 60_000
const ENOUGH_CHANGES = 5_000

/**
 * The embedded database has no autovacuum, so tables would grow and plans become outdated. Every ten minutes, this
 * vacuums the tables with enough changed rows. It blocks the database for about a second per million rows.
 */
export function scheduleVacuum(db: Db, onError: (error: unknown) => void): { stop(): void } {
  const timer = setInterval(() => void vacuumChanged(db).catch(onError), EVERY_MS)
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
