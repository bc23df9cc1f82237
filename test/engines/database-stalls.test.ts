import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { onPostgres } from '../database.ts'
import { startModelServer } from '../fakes/model-server.ts'
import { tokens } from '../fakes/reply.ts'
import { awayFor, chatThrough } from '../faults/chat-through.ts'
import { inFaultWorld, isLong } from '../faults/fault-world.ts'
import { type SilentProxy, startSilentProxy } from '../faults/silent-proxy.ts'
import { newKey } from '../new-key.ts'
import { type Cluster, findBinaries, startCluster } from '../postgres-cluster.ts'
import { readStream } from '../read-stream.ts'
import { newHome, spawnService } from '../spawn-service.ts'
import { clientOf } from '../start.ts'
import { until } from '../until.ts'

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

  test('a process that has to end keeps what it holds until the database is back', {
    skip: !isLong && 'takes most of a minute, which is for FAULTS=long',
  }, async () => {
    const models = await startModelServer()
    const home = await newHome({ server: cluster.url })
    const key = await newKey(home)
    const env = { ...home.env, ...models.settings }
    const ending = await spawnService(env)
    const client = clientOf(ending.url, key)
    const agentId = (await client.request('POST', '/agents', { name: 'Agent' })).body.id
    models.queue.push({ tokens: tokens(100), delayMs: 20 })
    const response = await client.raw('POST', `/agents/${agentId}/chat`, {
      body: JSON.stringify({ message: 'Long' }),
      headers: { 'content-type': 'application/json' },
    })
    const reading = readStream(response)
    cluster.freeze()
    ending.signal('SIGTERM')
    await wait(40_000)
    assert.ok(ending.isAlive())
    cluster.thaw()
    const { text, events } = await reading
    await until('the end', () => !ending.isAlive())
    const next = await spawnService(env)
    const [conversation] = (await clientOf(next.url, key).request('GET', `/agents/${agentId}/conversations`))
      .body.data
    const path = `/agents/${agentId}/conversations/${conversation.id}/messages`
    const { body } = await clientOf(next.url, key).request('GET', path)
    assert.equal(text, tokens(100).join(''))
    assert.equal(body.data[1].parts[0].text, text)
    assert.equal(events.at(-1)?.event, 'data-reattach')
    await next.kill('SIGTERM')
    await models.close()
    await home.remove()
  })

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
