import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type ModelServer, startModelServer } from '../../../../test/fakes/model-server.ts'
import { liveFully, makeWorld, PERSON } from '../../../../test/full-life.ts'
import { type Service, startService } from '../../../../test/start.ts'
import { memberOf } from '../../../../test/workspace.ts'

let models: ModelServer
let service: Service

before(async () => {
  models = await startModelServer()
  service = await startService(models.settings)
})
after(async () => {
  await models.close()
  await service.close()
})

type Line = { type: string } & Record<string, unknown>
const linesOf = (text: string): Line[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

test("an account is exported completely, without secrets and without others' data", async () => {
  const world = await makeWorld(service, models)
  const { client } = world
  await liveFully(world)
  const stranger = await service.account({ name: 'Stranger' })
  await stranger.request('POST', '/agents', { name: 'Not yours' })
  const text = await (await client.raw('POST', '/account/export')).text()
  const lines = linesOf(text)
  const count = (type: string) => lines.filter((line) => line.type === type).length
  const { type, messages, ...counts }: Partial<Line> = lines.at(-1) ?? {}
  assert.equal(type, 'end')
  assert.ok(Number(messages) > 0)
  for (const [name, number] of Object.entries(counts))
    assert.equal(count(name.replace(/s$/, '')), number, `${name}: ${number}`)
  for (const kind of ['agent', 'source', 'conversation', 'contact'])
    assert.ok(count(kind) > 0, `no line of the type ${kind}`)
  assert.ok(text.includes(PERSON.email))
  assert.doesNotMatch(text, /Not yours|Stranger/)
  assert.ok(!text.includes(client.key))
})

test('only owners and admins export an account', async () => {
  const { accountId } = await service.account()
  const builder = await memberOf(service, accountId, 'builder')
  assert.equal((await builder.request('POST', '/account/export')).status, 403)
  const admin = await memberOf(service, accountId, 'admin')
  const answer = await admin.request('POST', '/account/export')
  assert.equal(answer.status, 200)
  const { data } = (await admin.request('GET', '/audit-log', undefined)).body
  assert.ok(data.some(({ action }: { action: string }) => action === 'account.export'))
})
