import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { createAccount } from '../server/accounts/records/accounts.ts'
import type { Db } from '../server/platform/db/database.ts'
import { freshDatabase, onPostgres } from './database.ts'

const skip = onPostgres() && 'only embedded databases are used again'

/** A name that only this database has, because a new session has none. */
const mark = (db: Db) => sql`comment on database postgres is 'used'`.execute(db)
const isMarked = async (db: Db): Promise<boolean> => {
  const { rows } = await sql<{ comment: string | null }>`
    select shobj_description(oid, 'pg_database') as comment from pg_database where datname = 'postgres'`.execute(
    db,
  )
  return rows[0]?.comment === 'used'
}

test('a database is used again without the rows and the session of the test before', { skip }, async () => {
  const first = await freshDatabase()
  await createAccount(first.database.db, 'Left over')
  await sql`set search_path to jobs`.execute(first.database.db)
  await mark(first.database.db)
  await first.database.close()

  const { database } = await freshDatabase()
  assert.ok(await isMarked(database.db))
  assert.deepEqual(await database.db.selectFrom('accounts').select('id').execute(), [])
  const migrations = await sql`select name from public.schema_migrations`.execute(database.db)
  assert.ok(migrations.rows.length > 40)
  await database.close()
})

test('a database whose schema has changed is not used again', { skip }, async () => {
  const changes = [
    'create table notes (id integer)',
    'alter table accounts add column notes text',
    'alter table accounts disable trigger all',
    `create or replace function notes() returns integer language sql as 'select 1'`,
    'create role notes',
  ]
  for (const change of changes) {
    const first = await freshDatabase()
    await mark(first.database.db)
    await sql.raw(change).execute(first.database.db)
    await first.database.close()
    const { database } = await freshDatabase()
    assert.equal(await isMarked(database.db), false, change)
    await database.close()
  }
})
