import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import { freshDatabase, onPostgres } from '../../../test/database.ts'
import { until } from '../../../test/until.ts'
import { ALWAYS_THERE } from '../db/connections/availability.ts'
import type { Db } from '../db/database.ts'
import { newId } from '../db/ids.ts'
import { localNotifier, postgresNotifier } from '../db/notifier.ts'
import { beatingProcess, soleProcess } from '../db/upkeep/processes.ts'
import { takeOverFormerJobs } from './former-jobs.ts'
import { ServiceAway, type Task } from './jobs.ts'
import { openJobs } from './open-jobs.ts'
import { startRecurringJobs } from './recurring-jobs.ts'

type Payload = { word: string }

/** Opens the jobs of a new database; `told` collects their errors. */
async function openTestJobs() {
  const { database, drop } = await freshDatabase()
  const { db } = database
  const told: unknown[] = []
  const jobs = openJobs({ db, process: await soleProcess(db), onError: (error) => told.push(error) })
  return { database, drop, db, told, jobs }
}

test('a failing job is retried; attempts that a process did not survive do not count', async () => {
  const { database, drop, db, told, jobs } = await openTestJobs()
  const attempts: string[] = []
  const task: Task<Payload> = {
    name: 'try',
    concurrency: 1,
    retries: 2,
    async run({ word, ...rest }, { isLast }) {
      const failure = new Error('not yet')
      attempts.push(`${word}${isLast(failure) ? ' last' : ''}${Object.keys(rest)}`)
      if (word === 'never' || attempts.length < 2) throw failure
    },
  }
  const tasks = [task as Task<never>]
  await jobs.enqueue<Payload>(db, 'try', { word: 'later' })
  // Simulates that many kills.
  await sql`update jobs set claims = 5`.execute(db)
  await jobs.work(tasks)
  await until('the second attempt', () => attempts.length === 2)
  assert.deepEqual(attempts, ['later', 'later'])

  await jobs.enqueue<Payload>(db, 'try', { word: 'never' })
  await until('the end of the last attempt', () => told.length > 0)
  assert.deepEqual(attempts.slice(2), ['never', 'never', 'never last'])
  await until('nothing to be left', async () => {
    return (await sql`select from jobs`.execute(db)).rows.length === 0
  })
  assert.deepEqual(told.map(String), ['Error: not yet'])
  await jobs.close()
  await database.close()
  await drop()
})

for (const [what, fail] of [
  [
    'the database',
    (db) => sql.raw(`do $$ begin raise 'starting up' using errcode = '57P03'; end $$`).execute(db),
  ],
  ['a service', async () => Promise.reject(new Error('no answer', { cause: new ServiceAway() }))],
] as [string, (db: Db) => Promise<unknown>][])
  test(`an attempt during which ${what} was away does not count`, async () => {
    const { database, drop, db, told, jobs } = await openTestJobs()
    const attempts: string[] = []
    const task: Task<Payload> = {
      name: 'away',
      concurrency: 1,
      retries: 0,
      async run({ word }) {
        attempts.push(word)
        if (attempts.length < 3) await fail(db)
        throw new Error('a failure of its own')
      },
    }
    const tasks = [task as Task<never>]
    await jobs.work(tasks)
    await jobs.enqueue<Payload>(db, 'away', { word: 'again' })
    await until('the end', () => told.length > 0)
    assert.deepEqual(attempts, ['again', 'again', 'again'])
    assert.deepEqual(told.map(String), ['Error: a failure of its own'])
    await jobs.close()
    await database.close()
    await drop()
  })

test('a job starts when it is committed or due, without constant polling', async () => {
  const { database, drop } = await freshDatabase()
  const { db, availability, url } = database
  const fail = (error: unknown) => assert.fail(String(error))
  const notifier = url ? postgresNotifier(url, fail) : localNotifier()
  const jobs = openJobs({ db, process: await soleProcess(db), availability, notifier, onError: fail })
  const begun: string[] = []
  let under = 0
  let most = 0
  const task: Task<Payload> = {
    name: 'note',
    concurrency: 3,
    retries: 0,
    async run({ word }) {
      most = Math.max(most, ++under)
      await wait(20)
      under -= 1
      begun.push(word)
    },
  }
  await jobs.work([task as Task<never>])
  await db.transaction().execute(async (trx) => {
    for (let i = 0; i < 20; i++) await jobs.enqueue<Payload>(trx, 'note', { word: `${i}` })
    await jobs.enqueue<Payload>(trx, 'note', { word: 'later' }, 1)
    assert.deepEqual(begun, [])
  })
  await until('all jobs', () => begun.length === 21)
  assert.equal(begun.at(-1), 'later')
  assert.equal(most, 3, 'they run side by side')
  jobs.rest()
  await jobs.enqueue<Payload>(db, 'note', { word: 'for others' })
  await wait(500)
  assert.ok(!begun.includes('for others'), 'whoever rests takes no more')
  await jobs.close()
  await notifier.close()
  await database.close()
  await drop()
})

test('an account has no more than its share of running jobs, however many of them came first', async () => {
  const { database, drop } = await freshDatabase()
  const { db } = database
  const jobs = openJobs({
    db,
    process: await soleProcess(db),
    onError: (error) => assert.fail(String(error)),
  })
  const begun: string[] = []
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const task: Task<Payload> = {
    name: 'shared',
    concurrency: 3,
    share: 2,
    retries: 1,
    async run({ word }) {
      begun.push(word)
      if (word.startsWith('many')) await released
      if (word === 'few' && begun.filter((each) => each === 'few').length === 1) throw new Error('once more')
    },
  }
  for (let i = 0; i < 6; i++) await jobs.enqueue<Payload>(db, 'shared', { word: `many ${i}` }, 0, 'a')
  await jobs.enqueue<Payload>(db, 'shared', { word: 'few' }, 0, 'b')
  await jobs.work([task as Task<never>])
  await until('the job of the other, twice', () => begun.filter((word) => word === 'few').length === 2)
  assert.equal(begun.filter((word) => word.startsWith('many')).length, 2)
  release()
  await until('all', () => begun.length === 8)
  await jobs.close()
  await database.close()
  await drop()
})

test('duties and jobs run although the clock of the database was set back by an hour', async () => {
  const { database, drop } = await freshDatabase()
  const { db } = database
  const fail = (error: unknown) => assert.fail(String(error))
  const runs: string[] = []
  let look = (): unknown => assert.fail('nobody listens')
  const stop = await startRecurringJobs(
    {
      db,
      availability: {
        ...ALWAYS_THERE,
        onChange(listener) {
          look = () => listener(false)
          return () => {}
        },
      },
      process: { onDeath: () => {} },
      onActivity: () => () => {},
      onError: fail,
    },
    [{ what: 'hourly', everyMs: 3_600_000, run: async () => runs.push('duty') }],
  )
  await until('the first run', () => runs.length === 1)
  await sql`update duties set next_at = next_at + interval '1 hour'`.execute(db)
  look()
  await until('the second run', () => runs.length === 2)
  look()
  await stop()

  const jobs = openJobs({ db, process: await soleProcess(db), onError: fail })
  const task: Task<Payload> = {
    name: 'late',
    concurrency: 1,
    retries: 0,
    run: async ({ word }) => void runs.push(word),
  }
  await jobs.enqueue<Payload>(db, 'late', { word: 'waiting' }, 1)
  await sql`update jobs set queued_at = queued_at + interval '1 hour', run_at = run_at + interval '1 hour'`.execute(
    db,
  )
  await jobs.work([task as Task<never>])
  await until('the waiting job', () => runs.includes('waiting'))
  assert.deepEqual(runs, ['duty', 'duty', 'waiting'])
  await jobs.close()
  await database.close()
  await drop()
})

test('jobs of a process that has died run in another; what the dead one still says of them does not count', async () => {
  const { database, drop } = await freshDatabase()
  const { db } = database
  const fail = (error: unknown) => assert.fail(String(error))
  const begun: string[] = []
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const task = (name: string, end?: Promise<void>): Task<Payload> => ({
    name: 'moved',
    concurrency: 2,
    retries: 0,
    async run({ word }) {
      begun.push(`${name} ${word}`)
      await end
    },
  })
  const dead = await soleProcess(db)
  const first = openJobs({ db, process: dead, onError: fail })
  await first.enqueue<Payload>(db, 'moved', { word: 'a' })
  await first.work([task('first', released) as Task<never>])
  await until('the first run', () => begun.length === 1)
  // As another process declares it dead.
  await sql`update processes set epoch = epoch + 1, alive = false where id = ${dead.id}`.execute(db)
  const living = newId()
  await sql`insert into processes (id) values (${living})`.execute(db)
  const second = openJobs({ db, process: { ...dead, id: living }, onError: fail })
  const { promise: held, resolve: letGo } = Promise.withResolvers<void>()
  await second.work([task('second', held) as Task<never>])
  await until('the second run', () => begun.length === 2)
  release()
  await first.close()
  const { rows } = await sql<{ process_id: string }>`select process_id from jobs`.execute(db)
  assert.deepEqual(rows, [{ process_id: living }])
  letGo()
  await until('the end', async () => (await sql`select from jobs`.execute(db)).rows.length === 0)
  assert.deepEqual(begun, ['first a', 'second a'])
  await second.close()
  await database.close()
  await drop()
})

test('a claim whose response was lost is repeated; an end that cannot be stored is stored later', async () => {
  const { db, drop, database, jobs, told } = await openTestJobs()
  const begun: string[] = []
  const task: Task<Payload> = {
    name: 'lost',
    concurrency: 1,
    retries: 0,
    share: 1,
    async run({ word }) {
      begun.push(word)
      if (word === 'a') await sql`alter table jobs rename to jobs_away`.execute(db)
    },
  }
  await jobs.enqueue<Payload>(db, 'lost', { word: 'a' }, 0, 'one')
  await jobs.enqueue<Payload>(db, 'lost', { word: 'b' }, 0, 'one')
  // As after a claim of both.
  await sql`update jobs set claims = 1, process_epoch = 1, process_id = (select id from processes)`.execute(
    db,
  )
  await jobs.work([task as Task<never>])
  await until('the failure to store', () => told.length > 0)
  await sql`alter table jobs_away rename to jobs`.execute(db)
  await until('the end', async () => (await sql`select from jobs`.execute(db)).rows.length === 0)
  assert.deepEqual(begun, ['a', 'b'])
  await jobs.close()
  await database.close()
  await drop()
})

test('several processes together keep to the share of an account, and run each job once', {
  skip: !onPostgres() && 'the embedded database has one process',
}, async () => {
  const { database, drop } = await freshDatabase()
  const { db, url } = database
  assert.ok(url)
  const fail = (error: unknown) => assert.fail(String(error))
  const begun: string[] = []
  let under = 0
  let most = 0
  const task: Task<Payload> = {
    name: 'together',
    concurrency: 4,
    share: 3,
    retries: 0,
    async run({ word }) {
      most = Math.max(most, ++under)
      begun.push(word)
      await wait(5)
      under -= 1
    },
  }
  const all = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const process = await beatingProcess(url, fail)
      const notifier = postgresNotifier(url, fail)
      return { process, notifier, jobs: openJobs({ db, process, notifier, onError: fail }) }
    }),
  )
  for (const { jobs } of all) await jobs.work([task as Task<never>])
  const words = Array.from({ length: 60 }, (_, i) => `${i}`)
  await Promise.all(words.map((word) => all[0]?.jobs.enqueue<Payload>(db, 'together', { word }, 0, 'one')))
  await until('the end', async () => (await sql`select from jobs`.execute(db)).rows.length === 0)
  assert.deepEqual(begun.sort(), words.sort())
  assert.ok(most <= 3, `${most} at once`)
  for (const { jobs, process, notifier } of all) {
    await jobs.close()
    await process.close()
    await notifier.close()
  }
  await database.close()
  await drop()
})

test('the jobs of a former version are taken over, with what is known of them', async () => {
  const { database, drop } = await freshDatabase()
  const { db } = database
  // The columns that matter of the tables of pg-boss.
  await sql`create schema jobs`.execute(db)
  await sql`create type jobs.job_state as enum ('created', 'retry', 'active', 'completed', 'cancelled', 'failed')`.execute(
    db,
  )
  await sql`create table jobs.job (name text, state jobs.job_state, data jsonb, group_id text, start_after timestamptz,
    created_on timestamptz default now(), heartbeat_on timestamptz, heartbeat_seconds int default 10)`.execute(
    db,
  )
  await sql`insert into jobs.job (name, state, data, group_id, start_after, heartbeat_on) values
    ('old', 'created', '{"word": "waiting", "failures": 1, "outages": 2}', 'one', now(), null),
    ('old', 'retry', '{"word": "later"}', null, now() + interval '1 day', null),
    ('old', 'active', '{"word": "of a dead process"}', null, now(), now() - interval '1 minute'),
    ('old', 'active', '{"word": "of a living process"}', null, now(), now()),
    ('old', 'completed', '{"word": "done"}', null, now(), null),
    ('old', 'failed', '{"word": "failed"}', null, now(), null)`.execute(db)
  const jobs = openJobs({
    db,
    process: await soleProcess(db),
    onError: (error) => assert.fail(String(error)),
  })
  const begun: string[] = []
  const run = async (payload: Payload) => void begun.push(JSON.stringify(payload))
  const tasks = [{ name: 'old', concurrency: 1, retries: 0, run } as Task<never>]
  await takeOverFormerJobs(db)
  const { rows } =
    await sql`select tenant, failures, outages from jobs where payload->>'word' = 'waiting'`.execute(db)
  assert.deepEqual(rows, [{ tenant: 'one', failures: 1, outages: 2 }])
  await jobs.work(tasks)
  await until('the due jobs', async () => (await sql`select from jobs`.execute(db)).rows.length === 1)
  assert.deepEqual(begun.sort(), ['{"word":"of a dead process"}', '{"word":"waiting"}'])
  const left = await sql`select payload->>'word' as word, run_at > now() as later from jobs`.execute(db)
  assert.deepEqual(left.rows, [{ word: 'later', later: true }])
  const kept = await sql`select data->>'word' as word from jobs.job`.execute(db)
  assert.deepEqual(kept.rows, [{ word: 'of a living process' }])
  await jobs.close()
  await database.close()
  await drop()
})
