import { after, before, describe, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { onPostgres } from '../database.ts'
import { chatThrough } from '../faults/chat-through.ts'
import { inFaultWorld, isLong } from '../faults/fault-world.ts'
import { type Cluster, findBinaries, startCluster } from '../postgres-cluster.ts'

const bin = findBinaries()

describe('a database that ends sessions or restarts', {
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
    test(`a restart (${mode}) during sixteen chats neither ends a process nor interrupts an answer`, () =>
      through(() => cluster.restart(mode)))

  test('the service recovers by itself when the database was down for seconds', () =>
    through(async () => {
      await cluster.stop('fast')
      await wait(isLong ? 20_000 : 5_000)
      await cluster.start()
    }))

  test('ending sessions every 200 ms neither ends a process nor interrupts an answer', () =>
    through(async () => {
      for (let i = 0; i < (isLong ? 100 : 20); i++) {
        await cluster.terminateSessions()
        await wait(200)
      }
    }))
})
