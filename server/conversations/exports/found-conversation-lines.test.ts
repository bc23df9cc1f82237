import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Client, type Service, startService } from '../../../test/start.ts'

let service: Service
let client: Client
let agentId: string

before(async () => {
  service = await startService()
  client = await service.account()
  agentId = (await client.request('POST', '/agents', { name: 'Agent' })).body.id
})
after(() => service.close())

type Line = { type: string; messages?: unknown[]; conversations?: number }
async function found(query: string): Promise<Line[]> {
  const answer = await client.raw('GET', `/agents/${agentId}/conversations/search/export?${query}`)
  const text = await answer.text()
  assert.equal(answer.status, 200, text)
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

test('exactly the results of a search are exported', async () => {
  for (let i = 0; i < 28; i++) {
    const message = i < 27 ? `Question ${i} about zebras` : 'About something else'
    const { status } = await client.request('POST', `/agents/${agentId}/chat`, { message, stream: false })
    assert.equal(status, 200)
  }
  await service.ctx.indexer.run(service.ctx.db)
  const zebras = await found('query=zebras')
  assert.equal(zebras.filter(({ type }) => type === 'conversation').length, 27)
  assert.deepEqual(zebras.at(-1), { type: 'end', conversations: 27, messages: 54 })
  assert.ok(zebras.slice(0, -1).every(({ messages }) => messages?.length === 2))
  assert.equal((await found('')).length, 29)
  assert.deepEqual(await found('source=Email'), [{ type: 'end', conversations: 0, messages: 0 }])
})

test('filters are validated like those of the search', async () => {
  const bad = await client.request('GET', `/agents/${agentId}/conversations/search/export?sentiment=furious`)
  assert.deepEqual([bad.status, bad.body.error.code], [400, 'VALIDATION_INVALID_BODY'])
})
