import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import { codeOf } from '../../unknown-values.ts'
import type { Db, Trx } from '../database.ts'
import { buildIndexes, readIndexes } from './build-indexes.ts'

const FOLDER = new URL('../migrations/', import.meta.url)

/**
 * The newest migration of the last version that refuses every migration it does not know. That version reads
 * `schema_migrations`, so later migrations on which it can run are only recorded in `applied_migrations`.
 */
const LAST_OF_STRICT_VERSIONS = '0076_seen_tickets.sql'

// The ids of advisory locks, arbitrary numbers that must be the same in every process. Former versions hold the first
// one while they migrate. The second one is held by the process that migrates, for as long as it takes. Nobody waits
// for it in a statement, because an index that is built concurrently waits for all statements that began before.
const TRANSACTION_LOCK = 7_275_394
const MIGRATING_LOCK = 7_275_395
const LOOK_AGAIN_MS = 200

/** While a statement waits for the lock of a table, everybody else who uses the table waits as well. */
const LOCK_TIMEOUT_MS = 1_000
const MAX_PAUSE_MS = 5_000
const LOCKS_WITHIN_MS = 600_000
/** The codes of PostgreSQL for `lock_not_available` and `deadlock_detected`. */
const LOCK_FAILURES = ['55P03', '40P01']

/** The database cannot be brought to this program's schema; the message says what to do. */
export class MigrationRefused extends Error {
  override name = 'MigrationRefused'
}

export type Migration = { name: string; text: string; checksum: string }

export type Applied = { name: string; checksum: string; compatibleFrom: string }

type Progress = {
  /** Reports what takes a while, in a sentence. */
  say?: (line: string) => void
  /** Called before the first of the migrations of a database that is in use. Nothing is migrated when it throws. */
  before?: (session: Db, applied: Applied[], pending: Migration[]) => Promise<void>
  /** How long, in milliseconds, a migration is retried while others hold the locks that it needs. */
  locksWithinMs?: number
}

/**
 * Brings the schema up to date: forward only, checksummed, each file in a transaction of its own or, if it builds
 * indexes, outside of one. One process migrates while others wait. A migration that was interrupted is resumed.
 */
export async function migrate(
  db: Db,
  migrations: Migration[] = readMigrations(),
  { say = () => {}, before, locksWithinMs = LOCKS_WITHIN_MS }: Progress = {},
): Promise<void> {
  await db.connection().execute(async (session) => {
    if (pendingOf(migrations, await readApplied(session)).length === 0) return
    await holdingLock(session, say, async () => {
      const applied = await readApplied(session)
      const pending = pendingOf(migrations, applied)
      if (applied.length > 0 && pending.length > 0) await before?.(session, applied, pending)
      for (const migration of pending) {
        const indexes = readIndexes(migration)
        if (indexes === null) await runInTransaction(session, migration, locksWithinMs)
        else {
          if (applied.length > 0) say(`Building indexes (${migration.name}); the service goes on meanwhile.`)
          await buildIndexes(session, indexes)
          await session.transaction().execute((trx) => record(trx, migration))
        }
      }
    })
  })
}

/** Returns what has been applied to the database. Changes nothing. */
export async function readApplied(db: Db): Promise<Applied[]> {
  const { rows: found } = await sql<{ table: string | null }>`
    select to_regclass(name)::text as table from unnest(array['schema_migrations', 'applied_migrations']) as name`.execute(
    db,
  )
  const tables = found.map(({ table }) => table)
  const [former, present] = await Promise.all([
    tables.includes('schema_migrations')
      ? sql<Applied>`select name, checksum, name as "compatibleFrom" from schema_migrations`.execute(db)
      : null,
    tables.includes('applied_migrations')
      ? sql<Applied>`select name, checksum, compatible_from as "compatibleFrom" from applied_migrations`.execute(
          db,
        )
      : null,
  ])
  const byName = new Map([former, present].flatMap((read) => read?.rows ?? []).map((row) => [row.name, row]))
  return [...byName.values()]
}

/** Returns the migrations that are still to be applied, in order. Throws MigrationRefused. */
export function pendingOf(migrations: Migration[], applied: Applied[]): Migration[] {
  const known = new Map(migrations.map((migration) => [migration.name, migration]))
  const newest = migrations.at(-1)?.name ?? ''
  const refusing = applied.filter(({ name, compatibleFrom }) => !known.has(name) && compatibleFrom > newest)
  if (refusing.length > 0) {
    throw new MigrationRefused(
      `The database was migrated by a newer version of Parley (${listed(refusing)}), with which this version cannot run. Start that version, or put back the backup from before the upgrade.`,
    )
  }
  const changed = applied.filter(({ name, checksum }) => {
    const ours = known.get(name)
    return ours && ours.checksum !== checksum
  })
  if (changed.length > 0) {
    throw new MigrationRefused(
      `These migrations were changed after they had been applied: ${listed(changed)}. Restore the released files.`,
    )
  }
  const done = new Set(applied.map(({ name }) => name))
  return migrations.filter(({ name }) => !done.has(name))
}

const listed = (migrations: { name: string }[]): string => migrations.map(({ name }) => name).join(', ')

/**
 * Returns the oldest program that can run on the schema with this migration, named by the beginning of its newest
 * migration. A file that does not say so can be run only by programs that have it.
 */
export function compatibleFrom({ name, text }: Migration): string {
  return /^-- compatible_from: (\d{4})$/m.exec(text)?.[1] ?? name
}

async function holdingLock(session: Db, say: (line: string) => void, work: () => Promise<void>) {
  for (let waits = false; !(await tryLock(session)); await wait(LOOK_AGAIN_MS)) {
    if (!waits) say('Waiting for another process that migrates the database.')
    waits = true
  }
  try {
    await sql`set statement_timeout = 0; set lock_timeout = 0`.execute(session)
    await work()
  } finally {
    // When the connection is lost, so are its lock and its settings.
    await sql`select pg_advisory_unlock(${sql.lit(MIGRATING_LOCK)}); reset statement_timeout; reset lock_timeout`
      .execute(session)
      .catch(() => {})
  }
}

async function tryLock(session: Db): Promise<boolean> {
  const { rows } = await sql<{
    held: boolean
  }>`select pg_try_advisory_lock(${sql.lit(MIGRATING_LOCK)}) as held`.execute(session)
  return rows[0]?.held === true
}

async function runInTransaction(session: Db, migration: Migration, locksWithinMs: number): Promise<void> {
  const begun = performance.now()
  for (let pause = 100; ; pause = Math.min(2 * pause, MAX_PAUSE_MS)) {
    try {
      return await session.transaction().execute(async (trx) => {
        await sql`set local idle_in_transaction_session_timeout = 0`.execute(trx)
        await sql`select pg_advisory_xact_lock(${sql.lit(TRANSACTION_LOCK)})`.execute(trx)
        await sql`set local lock_timeout = ${sql.lit(LOCK_TIMEOUT_MS)}`.execute(trx)
        await sql.raw(migration.text).execute(trx)
        await record(trx, migration)
      })
    } catch (cause) {
      if (!LOCK_FAILURES.includes(codeOf(cause) ?? '')) throw cause
      if (performance.now() - begun + pause > locksWithinMs) {
        throw new MigrationRefused(
          `The migration ${migration.name} did not get the locks of its tables within ${Math.round(locksWithinMs / 1_000)} seconds, because other sessions hold them. It has changed nothing. Look for transactions that have been open for a long time (pg_stat_activity), such as a backup, and start again.`,
          { cause },
        )
      }
      await wait(pause)
    }
  }
}

async function record(trx: Trx, migration: Migration): Promise<void> {
  const { name, checksum } = migration
  const from = compatibleFrom(migration)
  if (name > LAST_OF_STRICT_VERSIONS) {
    await sql`create table if not exists applied_migrations (
      name text primary key, checksum text not null, compatible_from text not null,
      applied_at timestamptz(3) not null default now())`.execute(trx)
    await sql`insert into applied_migrations (name, checksum, compatible_from) values (${name}, ${checksum}, ${from})`.execute(
      trx,
    )
  }
  // What a strict version finds here but does not know makes it refuse to start.
  if (name <= LAST_OF_STRICT_VERSIONS || from > LAST_OF_STRICT_VERSIONS) {
    await sql`create table if not exists schema_migrations (
      name text primary key, checksum text not null, applied_at timestamptz(3) not null default now())`.execute(
      trx,
    )
    await sql`insert into schema_migrations (name, checksum) values (${name}, ${checksum})`.execute(trx)
  }
}

export function readMigrations(folder: URL = FOLDER): Migration[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => {
      const text = readFileSync(new URL(name, folder), 'utf8')
      return { name, text, checksum: createHash('sha256').update(text).digest('hex') }
    })
}
