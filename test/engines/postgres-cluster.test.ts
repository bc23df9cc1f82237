import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { createPostgresDatabase, dropPostgresDatabase, onPostgres } from '../database.ts'
import { deadlocksIn, findBinaries, startCluster } from '../postgres-cluster.ts'
import { until } from '../until.ts'

const LOG = `2026-11-22 14:00:01.123 UTC [77] LOG:  database system is ready to accept connections
2026-11-22 14:00:02.456 UTC [80] ERROR:  relation "nothing" does not exist at character 15
2026-11-22 14:00:02.456 UTC [80] STATEMENT:  select * from nothing where text = 'deadlock detected'
2026-11-22 14:00:03.789 UTC [81] ERROR:  deadlock detected
2026-11-22 14:00:03.789 UTC [81] DETAIL:  Process 81 waits for ShareLock on transaction 7; blocked by process 82.
	Process 82 waits for ShareLock on transaction 8; blocked by process 81.
2026-11-22 14:00:03.789 UTC [81] STATEMENT:  update agents set name = 'x'
2026-11-22 14:00:04.000 UTC [83] LOG:  checkpoint starting: time
`

test('deadlocks are found in a log by the error itself, not by words in statements', () => {
  const [found, ...others] = deadlocksIn(LOG)
  assert.match(found ?? '', /^2026-11-22 14:00:03.789 UTC \[81\] ERROR: {2}deadlock detected$/m)
  assert.deepEqual(others, [])
  assert.deepEqual(deadlocksIn(LOG.replace(/ERROR: {2}deadlock/, 'LOG:  no deadlock')), [])
})

const bin = findBinaries()

test('a deadlock makes dropping its database fail, and appears in the log that the suite reads', {
  skip: (!onPostgres() || !bin) && 'needs the programs of PostgreSQL, and TEST_DATABASE_URL',
}, async () => {
  // The test uses a separate server, because deadlocks on the suite's server make the suite fail.
  const cluster = await startCluster(bin!, { deadlock_timeout: '50ms' })
  try {
    const calm = await createPostgresDatabase(cluster.url, { empty: true })
    await dropPostgresDatabase(cluster.url, calm)
    assert.deepEqual(deadlocksIn(cluster.log()), [])
    const url = await createPostgresDatabase(cluster.url, { empty: true })
    await meetInDeadlock(url)
    // The server updates its counters when a session ends.
    const counted = 'select from pg_stat_database where deadlocks > 0'
    await until('the count', async () => (await cluster.query(counted)).length > 0)
    await assert.rejects(dropPostgresDatabase(cluster.url, url), /1 deadlocks/)
    assert.equal(deadlocksIn(cluster.log()).length, 1)
  } finally {
    await cluster.remove()
  }
})

async function meetInDeadlock(url: string): Promise<void> {
  const [one, other] = [1, 2].map(() => new pg.Client({ connectionString: url })) as [pg.Client, pg.Client]
  await Promise.all([one.connect(), other.connect()])
  await one.query('create table t as select id from generate_series(1, 2) as id')
  const lock = (client: pg.Client, id: number) => client.query('select from t where id = $1 for update', [id])
  await one.query('begin')
  await other.query('begin')
  await lock(one, 1)
  await lock(other, 2)
  const met = await Promise.allSettled([lock(one, 2), lock(other, 1)])
  assert.equal(met.filter(({ status }) => status === 'rejected').length, 1)
  await Promise.all([one.end(), other.end()])
}
