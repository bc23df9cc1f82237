import { after, before, describe, test } from 'node:test'
import { onPostgres } from '../database.ts'
import { awayFor, chatThrough } from '../faults/chat-through.ts'
import { inFaultWorld, isLong } from '../faults/fault-world.ts'
import { type SilentProxy, startSilentProxy } from '../faults/silent-proxy.ts'
import { type Cluster, findBinaries, startCluster } from '../postgres-cluster.ts'

const bin = findBinaries()
const AWAY_MS = isLong ? 20_000 : 6_000
/** The longest answers begin before the fault and end after it, so that the log misses some of their words. */
const FIRST_MS = AWAY_MS + 8_000

describe('a database that does not respond, while its connections stay open', {
  skip: (!onPostgres() || !bin) && 'needs the programs of PostgreSQL, and TEST_DATABASE_URL',
}, () => {
  let cluster: Cluster
  let proxy: SilentProxy
  before(async () => {
    cluster = await startCluster(bin!)
    proxy = await startSilentProxy(cluster.url)
  })
  after(async () => {
    await proxy.close()
    await cluster.remove()
  })

  test('while the server is paused, new requests get 503, answers continue, and all are stored afterwards', () =>
    inFaultWorld({ server: cluster.url }, (world) =>
      chatThrough(
        world,
        async (talkers) => {
          cluster.freeze()
          try {
            await awayFor(AWAY_MS, world, talkers)
          } finally {
            cluster.thaw()
          }
        },
        { firstMs: FIRST_MS },
      ),
    ))

  test('when the network loses all packets, dead connections are given up', () =>
    inFaultWorld({ server: cluster.url, reach: proxy.through }, (world) =>
      chatThrough(
        world,
        async (talkers) => {
          proxy.goSilent()
          try {
            await awayFor(AWAY_MS, world, talkers)
          } finally {
            proxy.resume()
          }
        },
        { firstMs: FIRST_MS },
      ),
    ))

  test('every connection is reset at the same time', () =>
    inFaultWorld({ server: cluster.url, reach: proxy.through }, (world) =>
      chatThrough(world, async () => proxy.cut()),
    ))
})
