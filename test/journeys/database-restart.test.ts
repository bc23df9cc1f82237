import { after, before, describe, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { onPostgres } from '../database.ts'
import { chatThrough } from '../faults/chat-through.ts'
import { inFaultWorld, isLong } from '../faults/fault-world.ts'
import { type Cluster, findBinaries, startCluster } from '../postgres-cluster.ts'

const bin = findBinaries()

describe('a database that ends sessions, or restarts', {
  skip: (!onPostgres() || !bin) && 'needs the programs of PostgreSQL, and TEST_DATABASE_URL',
}, () => {
  let cluster: Cluster
  before(async () => {
    cluster = await startCluster(bin!)
  })
  after(() => cluster.remove())

  const through = (fault: () => Promise<void>): Promise<void> =>
    inFaultWorld({ server: cluster.url }, (world) => chatThrough(world, fault))

  for (const mode of ['fast', 'immediate'] as const)
    test(`a restart (${mode}) during sixteen chats ends no process and interrupts no answer`, () =>
      through(() => cluster.restart(mode)))

  test('a database that is down for seconds is back without anybody doing anything', () =>
    through(async () => {
      await cluster.stop('fast')
      await wait(isLong ? 20_000 : 5_000)
      await cluster.start()
    }))

  test('sessions ended every 200 ms end no process and interrupt no answer', () =>
    through(async () => {
      for (let i = 0; i < (isLong ? 100 : 20); i++) {
        await cluster.terminateSessions()
        await wait(200)
      }
    }))
})
