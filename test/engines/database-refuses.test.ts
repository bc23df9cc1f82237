import { after, before, describe, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { onPostgres } from '../database.ts'
import { chatThrough } from '../faults/chat-through.ts'
import { inFaultWorld, isLong } from '../faults/fault-world.ts'
import { type Cluster, findBinaries, startCluster } from '../postgres-cluster.ts'

const bin = findBinaries()
const AWAY_MS = isLong ? 20_000 : 5_000
const CONNECTIONS = 60
/** The number of connections that are left for the service. */
const LEFT = 2

describe('a database that is reachable but rejects work', {
  skip: (!onPostgres() || !bin) && 'needs the programs of PostgreSQL, and TEST_DATABASE_URL',
}, () => {
  let cluster: Cluster
  before(async () => {
    cluster = await startCluster(bin!, { max_connections: CONNECTIONS })
  })
  after(() => cluster.remove())

  test('other clients use all connections but two', () =>
    inFaultWorld({ server: cluster.url }, (world) =>
      chatThrough(world, async () => {
        const release = await takeConnections(cluster, CONNECTIONS - LEFT)
        await wait(AWAY_MS)
        await release()
      }),
    ))

  test('every connection of the service waits for a lock', () =>
    inFaultWorld({ server: cluster.url }, (world) =>
      chatThrough(world, async () => {
        const client = new pg.Client({ connectionString: world.databaseUrl! })
        await client.connect()
        await client.query('begin; lock table conversations in access exclusive mode')
        await wait(AWAY_MS)
        await client.end()
      }),
    ))

  test('the database is read-only', () =>
    inFaultWorld({ server: cluster.url }, (world) =>
      chatThrough(world, async () => {
        const set = async (value: 'on' | 'off'): Promise<void> => {
          await cluster.query(`alter system set default_transaction_read_only = ${value}`)
          await cluster.query('select pg_reload_conf()')
        }
        await set('on')
        await wait(AWAY_MS)
        await set('off')
      }),
    ))
})

/** Ends sessions of the service until the test holds `wanted` connections. Returns a function that releases them. */
async function takeConnections({ url }: Cluster, wanted: number): Promise<() => Promise<void>> {
  const taken: pg.Client[] = []
  const take = async (): Promise<boolean> => {
    const client = new pg.Client({ connectionString: url, application_name: 'taken' })
    client.on('error', () => {})
    try {
      await client.connect()
      taken.push(client)
      return true
    } catch {
      return false
    }
  }
  await take()
  while (taken.length < wanted) {
    if (await take()) continue
    await taken[0]!.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'client backend' and application_name <> 'taken'`,
    )
  }
  return async () => {
    await Promise.all(taken.map((client) => client.end()))
  }
}
