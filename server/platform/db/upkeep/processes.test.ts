import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
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

  test('a process that was killed is dead before its successor serves anybody', async () => {
    const { database, drop } = await freshDatabase()
    const url = database.url ?? ''
    const module = JSON.stringify(new URL('./processes.ts', import.meta.url).href)
    const script = `const { beatingProcess } = await import(${module})
      console.log((await beatingProcess(${JSON.stringify(url)}, () => {})).id)
      setInterval(() => {}, 1_000)`
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    try {
      const [printed] = await once(child.stdout, 'data')
      child.kill('SIGKILL')
      await once(child, 'exit')
      const successor = await beatingProcess(url, () => {})
      const rows = await database.db.selectFrom('processes').select(['id', 'alive']).execute()
      await successor.close()
      assert.deepEqual(
        rows.toSorted((a, b) => Number(a.alive) - Number(b.alive)),
        [
          { id: String(printed).trim(), alive: false },
          { id: successor.id, alive: true },
        ],
      )
    } finally {
      child.kill('SIGKILL')
      await drop()
    }
  })
})
