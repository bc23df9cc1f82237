import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import { freshDatabase, onPostgres } from '../../../test/database.ts'
import { until } from '../../../test/until.ts'
import { createActivity } from '../jobs/recurring-jobs.ts'
import { isUnavailable } from './connections/database-errors.ts'
import { createLanes, withHighPriority, withLowPriority, withTenant } from './connections/lanes.ts'
import { openEmbedded } from './database.ts'
import { postgresNotifier } from './notifier.ts'
import { afterCommit, transact } from './statements/transact.ts'
import { scheduleVacuum, vacuumChanged } from './upkeep/vacuum.ts'

test('a notice that cannot be published fails its transaction, but nothing that is committed already', {
  skip: !onPostgres() && 'the embedded database has no notices',
}, async () => {
  const { database, drop } = await freshDatabase({ empty: true })
  const { db, url } = database
  const told: unknown[] = []
  const notifier = postgresNotifier(url!, (error) => told.push(error))
  const tooLong = 'x'.repeat(8_000)
  await assert.rejects(
    transact(db, (trx) => notifier.publish(trx, 'stop', tooLong)),
    /too long/,
  )
  assert.deepEqual(told, [])
  const committed = transact(db, async (trx) => {
    await afterCommit(trx, (plain) => notifier.publish(plain, 'stop', tooLong))
    return 'committed'
  })
  assert.equal(await committed, 'committed')
  assert.match(String(told), /too long/)
  await notifier.close()
  await database.close()
  await drop()
})

test('a query of another caller never runs in a transaction that is rolled back', async () => {
  const { database, drop } = await freshDatabase({ empty: true })
  const { db } = database
  await sql`create table notes (id integer primary key)`.execute(db)
  await Promise.all(
    Array.from({ length: 200 }, (_, id) =>
      id % 2
        ? sql`insert into notes values (${id})`.execute(db)
        : db
            .transaction()
            .execute(async (trx) => {
              await sql`insert into notes values (${id})`.execute(trx)
              throw new Error('rolled back on purpose')
            })
            .catch(() => {}),
    ),
  )
  const { rows } = await sql<{ id: number }>`select id from notes order by id`.execute(db)
  assert.deepEqual(
    rows.map(({ id }) => id),
    Array.from({ length: 100 }, (_, i) => i * 2 + 1),
  )
  await database.close()
  await drop()
})

test('tables with many changed rows are vacuumed and analysed', async () => {
  const { database, drop } = await freshDatabase({ empty: true })
  await sql`create table busy (id integer)`.execute(database.db)
  await sql`insert into busy select generate_series(1, 6000)`.execute(database.db)
  await sql`delete from busy where id > 100`.execute(database.db)
  // A session writes its statistics when it is idle; reading them makes it do so now.
  await sql`select pg_stat_force_next_flush()`.execute(database.db)
  const names = await vacuumChanged(database.db, 1_000)
  if (!onPostgres()) assert.deepEqual(names, ['public.busy'])
  await database.close()
  await drop()
})

test('a vacuum waits while the service works, but not for ever', { skip: onPostgres() }, async () => {
  const { database, drop } = await freshDatabase({ empty: true })
  const { db } = database
  const activity = createActivity()
  const changed = async () => {
    await sql`create table if not exists busy (id integer)`.execute(db)
    await sql`insert into busy select generate_series(1, 6000)`.execute(db)
    await sql`select pg_stat_force_next_flush()`.execute(db)
  }
  const isVacuumed = async () => {
    const { rows } = await sql<{ n: number }>`
      select count(*)::int as n from pg_stat_user_tables where relname = 'busy' and vacuum_count > 0`.execute(
      db,
    )
    return rows[0]!.n === 1
  }
  const busy = setInterval(activity.note, 5)
  const start = (latestMs: number) =>
    scheduleVacuum(db, activity.lastAt, (error) => assert.fail(String(error)), {
      everyMs: 1,
      quietMs: 50,
      latestMs,
    })
  await changed()
  const patient = start(3_600_000)
  await wait(300)
  assert.equal(await isVacuumed(), false)
  patient.stop()
  const urgent = start(100)
  await until('the vacuum beside the work', isVacuumed)
  urgent.stop()
  clearInterval(busy)
  await sql`drop table busy`.execute(db)
  await changed()
  const quiet = start(3_600_000)
  await until('the vacuum in idle time', isVacuumed)
  quiet.stop()
  await database.close()
  await drop()
})

test('every reference has an index, so that deleting a referenced row never reads a whole table', async () => {
  const { database, drop } = await freshDatabase()
  const { rows } = await sql<{ reference: string }>`
    select conrelid::regclass || '.' || attname as reference from pg_constraint
    join pg_attribute on attrelid = conrelid and attnum = conkey[1]
    where contype = 'f' and connamespace = 'public'::regnamespace and not exists (
      select from pg_index where indrelid = conrelid and indkey[0] = conkey[1]
        and (indpred is null or pg_get_expr(indpred, indrelid) like '%IS NOT NULL%')
    ) order by 1`.execute(database.db)
  await database.close()
  await drop()
  assert.deepEqual(
    rows.map(({ reference }) => reference),
    [],
  )
})

test('on a single connection, bulk work yields to everything else but does not starve, and urgent work yields to nothing', async () => {
  const { db, close } = await openEmbedded('memory')
  const order: string[] = []
  const ask = (who: string) =>
    sql`select 1`.execute(db).then(() => {
      order.push(who)
    })
  await db.transaction().execute(async (trx) => {
    const waiting = [withLowPriority(() => ask('bulk')), withLowPriority(() => ask('bulk'))]
    for (let i = 0; i < 20; i++) waiting.push(ask('one'))
    waiting.push(withHighPriority(() => ask('urgent')))
    await sql`select 1`.execute(trx)
    void Promise.all(waiting).then(() => order.push('end'))
  })
  while (order.at(-1) !== 'end') await new Promise(setImmediate)
  assert.deepEqual(
    [order.indexOf('urgent'), order.indexOf('bulk'), order.lastIndexOf('bulk')],
    [0, 17, 22],
    order.join(),
  )
  await close()
})

test('bulk work whose turns are long gets a sixteenth of the time', async () => {
  let clock = 0
  const { enter } = createLanes({ now: () => clock })
  const order: string[] = []
  const take = async (who: string, ms: number) => {
    const leave = await enter()
    clock += ms
    order.push(who)
    leave()
  }
  const leave = await enter()
  const bulk = Array.from({ length: 2 }, () => withLowPriority(() => take('bulk', 10)))
  const others = Array.from({ length: 200 }, () => take('other', 1))
  leave()
  await Promise.all([...bulk, ...others])
  assert.equal(order.indexOf('bulk'), 16)
  assert.equal(order.lastIndexOf('bulk') - order.indexOf('bulk'), 151)
})

test('during a flood of one account, statements of other accounts pass', async () => {
  const { db, close } = await openEmbedded('memory')
  const order: string[] = []
  const ask = (tenant: string) =>
    withTenant(tenant, () => sql`select 1`.execute(db)).then(() => void order.push(tenant))
  const asked: Promise<void>[] = []
  await db.transaction().execute(async (trx) => {
    for (let i = 0; i < 200; i++) asked.push(ask('flood'))
    for (let i = 0; i < 10; i++) asked.push(ask('other'))
    await sql`select 1`.execute(trx)
  })
  await Promise.all(asked)
  assert.ok(order.lastIndexOf('other') < 100, order.join())
  await close()
})

test('no account gets all connections, and a caller that waits too long gets an error', async () => {
  const { enter } = createLanes({ places: 3, share: 2, maxMs: 1 })
  const [first] = await Promise.all([withTenant('a', enter), withTenant('a', enter)])
  await assert.rejects(withTenant('a', enter), isUnavailable)
  const others = await withTenant('b', enter)
  first?.()
  others()
  await Promise.all([withTenant('a', enter), withTenant('b', enter)])
})
