import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { freshDatabase } from '../../test/database.ts'
import { until } from '../../test/until.ts'
import { openJobs, type Task } from './jobs.ts'

type Payload = { word: string }

test('a job is done again while it fails; attempts that a process did not survive do not count', async () => {
  const { database, drop } = await freshDatabase()
  const { db, embedded } = database
  const told: unknown[] = []
  const jobs = await openJobs({ db, embedded, onError: (error) => told.push(error) })
  const attempts: string[] = []
  const task: Task<Payload> = {
    name: 'try',
    concurrency: 1,
    retries: 2,
    async run({ word, ...rest }, { last }) {
      attempts.push(`${word}${last ? ' last' : ''}${Object.keys(rest)}`)
      if (word === 'never' || attempts.length < 2) throw new Error('not yet')
    },
  }
  const tasks = [task as Task<never>]
  await jobs.prepare(tasks)
  await jobs.enqueue<Payload>(db, 'try', { word: 'later' })
  // As after so many kills.
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
