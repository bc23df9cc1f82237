import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { freshDatabase, onPostgres } from '../../../../test/database.ts'
import { startSilentProxy } from '../../../../test/faults/silent-proxy.ts'
import { until } from '../../../../test/until.ts'
import { beatingProcess } from './processes.ts'

describe('processes that beat', { skip: !onPostgres() && 'needs PostgreSQL' }, () => {
  test('one whose connection is lost beats on another, and one that loses the database is declared dead', async () => {
    const { database, drop } = await freshDatabase()
    const url = database.url ?? ''
    const proxies = [await startSilentProxy(url), await startSilentProxy(url)] as const
    const begin = (through: string) => beatingProcess(through, () => {})
    const [unlucky, away, observer] = [
      await begin(proxies[0].through(url)),
      await begin(proxies[1].through(url)),
      await begin(url),
    ]
    const read = (id: string) =>
      database.db
        .selectFrom('processes')
        .select(['epoch', 'beat', 'alive'])
        .where('id', '=', id)
        .executeTakeFirstOrThrow()
    try {
      // Its connection stays dead, and new ones are served.
      proxies[0].goSilent()
      proxies[0].resume()
      const { beat: last } = await read(unlucky.id)
      const { beat: begun } = await read(observer.id)
      await until('four beats of the observer', async () => (await read(observer.id)).beat >= begun + 4)
      const { beat } = await read(unlucky.id)
      assert.ok(beat > last, 'a process that reaches the database sent no beat for two seconds')
      const lost = Promise.withResolvers<number>()
      away.onLost(lost.resolve)
      proxies[1].goSilent()
      await until('the death of the one without a database', async () => !(await read(away.id)).alive)
      proxies[1].resume()
      assert.equal(await lost.promise, 1)
      assert.equal(away.epoch, 2)
      assert.deepEqual([(await read(unlucky.id)).epoch, unlucky.epoch, observer.epoch], [1, 1, 1])
    } finally {
      for (const process of [unlucky, away, observer]) await process.close()
      for (const proxy of proxies) await proxy.close()
      await drop()
    }
  })
})
