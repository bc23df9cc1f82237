import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { sql } from 'kysely'
import pg from 'pg'
import { freshDatabase, onPostgres } from '../../../../test/database.ts'
import { until, waitingForLock } from '../../../../test/until.ts'
import type { Database, Db } from '../database.ts'
import { readIndexes } from './build-indexes.ts'
import { MigrationRefused, migrate, readApplied, readMigrations } from './migrate.ts'

const postgresOnly = { skip: !onPostgres() && 'the embedded database has one session' }

const of = (name: string, text: string) => ({ name, text, checksum: text })
const names = async (db: Db) => (await readApplied(db)).map(({ name }) => name).sort()
const tablesLike = async (db: Db, pattern: string): Promise<string[]> => {
  const { rows } = await sql<{ name: string }>`
    select tablename as name from pg_tables where tablename like ${pattern} order by 1`.execute(db)
  return rows.map(({ name }) => name)
}
const isValid = async (db: Db, index: string): Promise<boolean | undefined> => {
  const { rows } = await sql<{ valid: boolean }>`
    select indisvalid as valid from pg_index where indexrelid = to_regclass(${index})`.execute(db)
  return rows[0]?.valid
}

/** Runs a test on an empty database of its own. */
const onEmpty = async (work: (database: Database) => Promise<void>): Promise<void> => {
  const fresh = await freshDatabase({ empty: true })
  try {
    await work(fresh.database)
  } finally {
    await fresh.database.close()
    await fresh.drop()
  }
}

/** What a version that has only these migrations does with the database. */
const start = (db: Db, ...migrations: string[]) =>
  migrate(
    db,
    migrations.map((name) => of(name, '')),
  )

test('migrations run once, forward only; a failing file changes nothing, and the next start goes on with it', () =>
  onEmpty(async ({ db }) => {
    const one = of('1.sql', 'create table t_one (id integer); insert into t_one values (1);')
    await migrate(db, [one])
    await migrate(db, [one])
    const two = of('2.sql', 'create table t_two (id integer);')
    const broken = of('3.sql', 'create table t_three (id integer); select nonsense;')
    await assert.rejects(migrate(db, [one, two, broken]))
    assert.deepEqual(await tablesLike(db, 't\\_%'), ['t_one', 't_two'], 'nothing of the failing file')
    assert.deepEqual(await names(db), ['1.sql', '2.sql'])
    await migrate(db, [one, two, of('3.sql', 'create table t_three (id integer);')])
    assert.deepEqual(await names(db), ['1.sql', '2.sql', '3.sql'])
    await assert.rejects(migrate(db, [of('1.sql', 'changed')]), MigrationRefused)
    await assert.rejects(migrate(db, []), MigrationRefused)
  }))

test('what is done before the first migration of a database in use can refuse it', () =>
  onEmpty(async ({ db }) => {
    const asked: string[][] = []
    const before = async (_: Db, applied: { name: string }[], pending: { name: string }[]) => {
      asked.push([applied, pending].map((list) => list.map(({ name }) => name).join()))
      throw new MigrationRefused('There is no room for a backup.')
    }
    const one = of('1.sql', 'create table t_one (id integer)')
    await migrate(db, [one], { before })
    await migrate(db, [one], { before })
    const two = of('2.sql', 'create table t_two (id integer)')
    await assert.rejects(migrate(db, [one, two], { before }), /no room/)
    assert.deepEqual(asked, [['1.sql', '2.sql']], 'not for a new database, and not without a migration')
    assert.deepEqual(await tablesLike(db, 't\\_%'), ['t_one'])
  }))

test('a newer migration is tolerated by the versions that it names, and refuses older ones', () =>
  onEmpty(async ({ db }) => {
    const former = ['0076_seen_tickets.sql', '0085_a.sql']
    await start(db, ...former)
    const all = former.map((name) => of(name, ''))
    const compatible = of('0090_b.sql', '-- compatible_from: 0085\ncreate table t_b (id integer);')
    await migrate(db, [...all, compatible])
    await start(db, ...former)
    await assert.rejects(start(db, '0076_seen_tickets.sql', '0084_z.sql'), {
      name: 'MigrationRefused',
      message: /newer version of Parley \(0085_a\.sql, 0090_b\.sql\).*Start that version, or put back/,
    })
    await migrate(db, [...all, compatible, of('0091_c.sql', '')])
    await assert.rejects(migrate(db, [...all, compatible]), /\(0091_c\.sql\)/, 'a file that names no version')
    await assert.rejects(start(db, ...former), /\(0091_c\.sql\)/)
  }))

test('commit 4fec835d, which refuses what it does not know, sees the migrations on which it cannot run', () =>
  onEmpty(async ({ db }) => {
    const seen = async () => {
      const { rows } = await sql<{ name: string }>`select name from schema_migrations order by name`.execute(
        db,
      )
      return rows.map(({ name }) => name)
    }
    const known = of('0076_seen_tickets.sql', '')
    const compatible = of('0080_a.sql', '-- compatible_from: 0076\ncreate table t_a (id integer);')
    await migrate(db, [known])
    await migrate(db, [known, compatible])
    assert.deepEqual(await seen(), ['0076_seen_tickets.sql'])
    await migrate(db, [known, compatible, of('0081_b.sql', '-- compatible_from: 0080\n')])
    assert.deepEqual(await seen(), ['0076_seen_tickets.sql', '0081_b.sql'])
    assert.deepEqual(await names(db), ['0076_seen_tickets.sql', '0080_a.sql', '0081_b.sql'])
  }))

test('the files say what programs they are compatible with, and those that build indexes do nothing else', () => {
  for (const migration of readMigrations()) assert.doesNotThrow(() => readIndexes(migration), migration.name)
  const index = 'create index concurrently t_a on t (a)'
  const [built] =
    readIndexes(of('1.sql', `-- compatible_from: 0076\n-- Why.\n${index} where a is not null;\n`)) ?? []
  assert.deepEqual(built, { name: 't_a', table: 't', statement: `${index} where a is not null` })
  assert.equal(readIndexes(of('1.sql', 'create index t_a on t (a);')), null)
  for (const text of [`${index};\nupdate t set a = 1;`, `alter table t add b integer;\n${index};`])
    assert.throws(() => readIndexes(of('1.sql', text)), /1\.sql: .* contains only statements of the form/)
})

test('an index is built outside of a transaction, and one that was left invalid is built anew', () =>
  onEmpty(async ({ db }) => {
    const table = of('1.sql', 'create table rows (id integer); insert into rows values (1), (1), (2);')
    await migrate(db, [table])
    const indexes = of(
      '2.sql',
      'create unique index concurrently rows_id on rows (id);\n-- More.\ncreate index concurrently rows_even on rows (id)\n  where id % 2 = 0;\n',
    )
    await assert.rejects(migrate(db, [table, indexes]), /could not create unique index|duplicate key/)
    if (onPostgres()) assert.equal(await isValid(db, 'rows_id'), false, 'what PostgreSQL leaves')
    assert.deepEqual(await names(db), ['1.sql'])
    await sql`delete from rows where ctid = '(0,1)'`.execute(db)
    await migrate(db, [table, indexes])
    assert.deepEqual([await isValid(db, 'rows_id'), await isValid(db, 'rows_even')], [true, true])
    assert.deepEqual(await names(db), ['1.sql', '2.sql'])
    await migrate(db, [table, indexes])
  }))

test(
  'while an index is built, rows are written, and a former version that starts does not wait',
  postgresOnly,
  () =>
    onEmpty(async ({ db, url }) => {
      const table = of(
        '1.sql',
        'create table rows (id integer); insert into rows select generate_series(1, 1000);',
      )
      await migrate(db, [table])
      const writer = new pg.Client({ connectionString: url! })
      await writer.connect()
      await writer.query('begin; insert into rows values (0)')
      const migrated = migrate(db, [table, of('2.sql', 'create index concurrently rows_id on rows (id)')])
      await until('the index waits for the writer', async () => (await isValid(db, 'rows_id')) === false)
      await sql`insert into rows values (1001)`.execute(db)
      // What 4fec835d does at its start.
      await db.transaction().execute((trx) => sql`select pg_advisory_xact_lock(7275394)`.execute(trx))
      await writer.query('commit')
      await migrated
      assert.equal(await isValid(db, 'rows_id'), true)
      await writer.end()
    }),
)

test(
  'a migration that waits for a table lets the traffic pass, and goes on when it gets the table',
  postgresOnly,
  () =>
    onEmpty(async ({ db, url }) => {
      const table = of('1.sql', 'create table rows (id integer)')
      await migrate(db, [table])
      const holder = new pg.Client({ connectionString: url! })
      await holder.connect()
      await holder.query('begin; insert into rows values (1)')
      const change = of('2.sql', 'alter table rows add note text')
      const waits = { locksWithinMs: 2_000 }
      const refused = assert.rejects(migrate(db, [table, change], waits), {
        name: 'MigrationRefused',
        message: /2\.sql did not get the locks of its tables within 2 seconds.*pg_stat_activity/,
      })
      // Each passes as soon as the migration has let go of its place in the queue, within the limit of every statement.
      for (let id = 2; id < 12; id++) await sql`insert into rows values (${sql.lit(id)})`.execute(db)
      await refused
      const migrated = migrate(db, [table, change])
      await sql`insert into rows values (12)`.execute(db)
      await holder.query('commit')
      await migrated
      const { rows } = await sql<{ n: number }>`select count(*) as n from rows where note is null`.execute(db)
      assert.equal(rows[0]?.n, 12)
      await holder.end()
    }),
)

test('four processes that migrate concurrently do it once', postgresOnly, () =>
  onEmpty(async ({ db }) => {
    await Promise.all([1, 2, 3, 4].map(() => migrate(db)))
    assert.deepEqual(
      await names(db),
      readMigrations().map(({ name }) => name),
    )
  }),
)

test('a process that is killed while it migrates leaves what the next one goes on with', postgresOnly, () =>
  onEmpty(async ({ db, url }) => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-migrations-'))
    writeFileSync(join(folder, '1.sql'), 'create table rows (id integer)')
    writeFileSync(join(folder, '2.sql'), 'create index concurrently rows_id on rows (id)')
    writeFileSync(join(folder, '3.sql'), 'alter table rows add note text; insert into rows values (0)')
    const migrations = readMigrations(pathToFileURL(`${folder}/`))
    await migrate(db, migrations.slice(0, 1))
    const blocker = new pg.Client({ connectionString: url! })
    await blocker.connect()
    const program = `
      import { openPostgres } from './server/platform/db/database.ts'
      import { migrate, readMigrations } from './server/platform/db/upkeep/migrate.ts'
      await migrate(openPostgres(${JSON.stringify(url)}).db, readMigrations(new URL(${JSON.stringify(pathToFileURL(`${folder}/`).href)})))`
    /** Kills a process that migrates, in a statement that another session keeps it in. */
    const killIn = async (beginning: string): Promise<void> => {
      const child = spawn(process.execPath, ['--input-type=module', '--eval', program])
      const ended = new Promise((resolve) => child.on('exit', resolve))
      await waitingForLock(db, beginning)
      child.kill('SIGKILL')
      await ended
    }
    await blocker.query('begin; insert into rows values (1)')
    await killIn('create index')
    await blocker.query('commit')
    assert.deepEqual(await names(db), ['1.sql'])
    await migrate(db, migrations.slice(0, 2))
    assert.equal(await isValid(db, 'rows_id'), true)
    await blocker.query('begin; select from rows')
    await killIn('alter table')
    await blocker.query('commit')
    assert.deepEqual(await names(db), ['1.sql', '2.sql'])
    await migrate(db, migrations)
    const { rows } = await sql`select id, note from rows order by id`.execute(db)
    assert.deepEqual(rows, [
      { id: 0, note: null },
      { id: 1, note: null },
    ])
    await blocker.end()
    rmSync(folder, { recursive: true })
  }),
)
