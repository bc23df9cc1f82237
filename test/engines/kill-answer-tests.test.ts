import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { startModelServer } from '../fakes/model-server.ts'
import { newKey } from '../new-key.ts'
import { newHome, spawnService } from '../spawn-service.ts'
import { type Client, clientOf } from '../start.ts'
import { until } from '../until.ts'

const CASES = 4
const REPEATS = 3

test('a run of tests goes on after kills, and each test has one result', async () => {
  const models = await startModelServer()
  models.otherwise(() => ({ tokens: ['Hello.'], firstDelayMs: 150 }))
  const home = await newHome()
  const key = await newKey(home)
  const env = { ...home.env, ...models.settings, OPENAI_API_KEY: 'sk-test-key' }
  let service = await spawnService(env)
  let client: Client = clientOf(service.url, key)
  const agent = `/agents/${(await client.request('POST', '/agents', { name: 'A' })).body.id}`
  for (let n = 0; n < CASES; n++)
    await client.request('POST', `${agent}/answer-cases`, { name: `${n}`, messages: ['Hello?'], expect: {} })
  const { id } = (await client.request('POST', `${agent}/answer-runs`, { repeats: REPEATS })).body
  const read = async () => (await client.request('GET', `${agent}/answer-runs/${id}`)).body
  for (const done of [2, 5, 8]) {
    await until(`${done} results`, async () => (await read()).done >= done)
    await wait(done * 20)
    await service.kill('SIGKILL')
    service = await spawnService(env)
    client = clientOf(service.url, key)
    assert.notEqual((await read()).status, 'stopped')
  }
  await until('the end of the run', async () => (await read()).status === 'finished')
  const { results, passed } = await read()
  assert.equal(passed, CASES * REPEATS)
  const kinds = results.map(
    (one: { caseId: string; repetition: number }) => `${one.caseId} ${one.repetition}`,
  )
  assert.equal(new Set(kinds).size, CASES * REPEATS)
  await service.kill('SIGKILL')
  await models.close()
  await home.remove()
})
