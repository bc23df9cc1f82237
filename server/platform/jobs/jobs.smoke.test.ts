import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import { freshDatabase } from '../../../test/database.ts'
import { until } from '../../../test/until.ts'
import { ALWAYS_THERE } from '../db/connections/availability.ts'
import type { Db } from '../db/database.ts'
import { localNotifier, postgresNotifier } from '../db/notifier.ts'
import { openJobs, ServiceAway, type Task } from './jobs.ts'
import { startRecurringJobs } from './recurring-jobs.ts'

type Payload = { word: string }

/** Opens the jobs of a new database; `told` collects their errors. */
async function openTestJobs() {
  const { database, drop } = await freshDatabase()
  const { db, embedded } = database
  const told: unknown[] = []
  const jobs = await openJobs({ db, embedded, onError: (error) => told.push(error) })
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
  await jobs.prepare(tasks)
  await jobs.enqueue<Payload>(db, 'try', { word: 'later' })
  // Simulates that many kills.
  await sql`update jobs.job set retry_count = 5 where name = 'try'`.execute(db)
  await jobs.work(tasks)
  await until('the second attempt', () => attempts.length === 2)
  assert.deepEqual(attempts, ['later', 'later'])

  await jobs.enqueue<Payload>(db, 'try', { word: 'never' })
  await until('the end of the last attempt', () => told.length > 0)
  assert.deepEqual(attempts.slice(2), ['never', 'never', 'never last'])
  await until('nothing to be left', async () => {
    const { rows } = await sql`select 1 from jobs.job where name = 'try' and state <> 'completed'`.execute(db)
    return rows.length === 0
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
    await jobs.prepare(tasks)
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
  const { db, embedded, availability, url } = database
  const fail = (error: unknown) => assert.fail(String(error))
  const notifier = url ? postgresNotifier(url, fail) : localNotifier()
  const jobs = await openJobs({ db, embedded, availability, notifier, onError: fail })
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
  await jobs.prepare([task as Task<never>])
  await jobs.work([task as Task<never>])
  // All workers have polled, found nothing, and are waiting.
  await wait(500)
  await db.transaction().execute(async (trx) => {
    for (let i = 0; i < 20; i++) await jobs.enqueue<Payload>(trx, 'note', { word: `${i}` })
    await jobs.enqueue<Payload>(trx, 'note', { word: 'later' }, 1)
    assert.deepEqual(begun, [])
  })
  await until('all jobs', () => begun.length === 21)
  assert.equal(begun.at(-1), 'later')
  assert.equal(most, 3, 'they run side by side')
  await jobs.rest()
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
  const { db, embedded } = database
  const jobs = await openJobs({ db, embedded, onError: (error) => assert.fail(String(error)) })
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
  await jobs.prepare([task as Task<never>])
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
  const { db, embedded } = database
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

  const jobs = await openJobs({ db, embedded, onError: fail })
  const task: Task<Payload> = {
    name: 'late',
    concurrency: 1,
    // On a busy machine, the job of the dead process may be due again before the other has run.
    retries: 1,
    run: async ({ word }) => void runs.push(word),
  }
  await jobs.prepare([task as Task<never>])
  await jobs.enqueue<Payload>(db, 'late', { word: 'waiting' }, 1)
  await jobs.enqueue<Payload>(db, 'late', { word: 'of a dead process' })
  await sql`update jobs.job set created_on = created_on + interval '1 hour', start_after = start_after + interval '1 hour'
    where name = 'late'`.execute(db)
  await sql`update jobs.job set state = 'active', started_on = created_on, heartbeat_on = created_on
    where name = 'late' and start_after = created_on`.execute(db)
  await jobs.work([task as Task<never>])
  await jobs.requeueOrphaned()
  const { rows } = await sql<{ ok: boolean }>`
    select heartbeat_on <= now() as ok from jobs.job where name = 'late' and data->>'word' = 'of a dead process'`.execute(
    db,
  )
  assert.deepEqual(rows, [{ ok: true }])
  await until('the waiting job', () => runs.includes('waiting'))
  assert.deepEqual(
    runs.filter((word) => word !== 'of a dead process'),
    ['duty', 'duty', 'waiting'],
  )
  await jobs.close()
  await database.close()
  await drop()
})
