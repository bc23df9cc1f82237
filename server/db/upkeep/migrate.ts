import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { sql } from 'kysely'
import type { Db, Trx } from '../database.ts'

const FOLDER = new URL('../migrations/', import.meta.url)
// The id of the advisory lock, an arbitrary number that must be the same in every process. One process migrates while
// the others wait, for as long as it takes.
const LOCK = 7_275_394

/** The database cannot be brought to this program's schema; the message says what to do. */
export class MigrationRefused extends Error {
  override name = 'MigrationRefused'
}

type Migration = { name: string; text: string; checksum: string }

/** Brings the schema up to date: all pending files in one transaction, forward only, checksummed. */
export async function migrate(db: Db, migrations: Migration[] = readMigrations()): Promise<void> {
  await db.transaction().execute(async (trx) => {
    for (const limit of ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'])
      await sql`set local ${sql.id(limit)} = 0`.execute(trx)
    await sql`select pg_advisory_xact_lock(${sql.lit(LOCK)})`.execute(trx)
    const pending = pendingOf(migrations, await applied(trx))
    for (const migration of pending) {
      await sql.raw(migration.text).execute(trx)
      await sql`insert into schema_migrations (name, checksum) values (${migration.name}, ${migration.checksum})`.execute(
        trx,
      )
    }
  })
}

async function applied(trx: Trx): Promise<Map<string, string>> {
  await sql`create table if not exists schema_migrations (
    name text primary key, checksum text not null, applied_at timestamptz(3) not null default now())`.execute(
    trx,
  )
  const { rows } = await sql<{
    name: string
    checksum: string
  }>`select name, checksum from schema_migrations`.execute(trx)
  return new Map(rows.map((row) => [row.name, row.checksum]))
}

function pendingOf(migrations: Migration[], done: Map<string, string>): Migration[] {
  const known = new Set(migrations.map((migration) => migration.name))
  const newer = [...done.keys()].filter((name) => !known.has(name))
  if (newer.length > 0) {
    throw new MigrationRefused(
      `The database was migrated by a newer version of Parley (${newer.join(', ')}). Start that version, or restore an earlier backup.`,
    )
  }
  const changed = migrations.filter(({ name, checksum }) => done.has(name) && done.get(name) !== checksum)
  if (changed.length > 0) {
    throw new MigrationRefused(
      `These migrations were changed after they had been applied: ${changed.map(({ name }) => name).join(', ')}. Restore the released files.`,
    )
  }
  return migrations.filter(({ name }) => !done.has(name))
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
