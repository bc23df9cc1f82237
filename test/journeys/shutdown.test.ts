import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { type ModelServer, startModelServer } from '../fakes/model-server.ts'
import { tokens } from '../fakes/reply.ts'
import { newKey } from '../new-key.ts'
import { readStream } from '../read-stream.ts'
import { newHome, spawnService } from '../spawn-service.ts'
import { clientOf, startService } from '../start.ts'

let models: ModelServer
before(async () => {
  models = await startModelServer()
})
after(() => models.close())

const env = () => ({ OPENAI_BASE_URL: `${models.url}/v1`, OPENAI_API_KEY: 'k', OPENAI_MODEL: 'fake' })
const json = { 'content-type': 'application/json' }

test('SIGTERM lets a reply finish, takes no new ones, and exits 0', async () => {
  const home = await newHome()
  const key = await newKey(home)
  const running = await spawnService({ ...home.env, ...env() })
  const client = clientOf(running.url, key)
  const agentId = (await client.request('POST', '/agents', { name: 'Agent' })).body.id
  models.queue.push({ tokens: tokens(100), delayMs: 20 })
  const body = JSON.stringify({ message: 'Long' })
  const response = await client.raw('POST', `/agents/${agentId}/chat`, { body, headers: json })
  const reading = readStream(response)
  const ended = running.kill('SIGTERM')
  const { text, events } = await reading
  assert.equal(text, tokens(100).join(''))
  assert.equal(events.at(-1)?.event, 'finish')
  assert.equal(await ended, 0)
  await assert.rejects(client.request('GET', '/agents'), 'nobody listens any more')
  await home.remove()
})

test('a longer reply is stored so far, and its reader is told to re-attach', async () => {
  const service = await startService(env())
  const client = await service.account()
  const agentId = (await client.request('POST', '/agents', { name: 'Agent' })).body.id
  models.queue.push({ tokens: tokens(1_000), delayMs: 10 })
  const body = JSON.stringify({ message: 'Endless' })
  const response = await client.raw('POST', `/agents/${agentId}/chat`, { body, headers: json })
  await wait(200)
  const drained = service.ctx.generations.drain(100)
  const refused = await client.request('POST', `/agents/${agentId}/chat`, { message: 'New' })
  assert.deepEqual([refused.status, refused.body.error.code], [503, 'SERVICE_OVERLOADED'])
  await drained
  const text = await response.text()
  assert.match(text, /event: data-reattach\ndata: .*"afterMs"/)
  assert.doesNotMatch(text, /event: finish\n/)
  assert.ok(text.endsWith('data: [DONE]\n\n'), 'the stream ends in order, without its finish')
  const read = await readStream(new Response(text, { headers: response.headers }))
  assert.equal(read.events.at(-1)?.event, 'data-reattach')
  assert.equal(
    read.message?.parts.find(({ type }) => type === 'text')?.type,
    'text',
    'read by the SDK without an error',
  )
  const conversationId = /"conversationId":"([^"]+)"/.exec(text)![1]
  const path = `/agents/${agentId}/conversations/${conversationId}`
  // The answer's text is already stored.
  assert.equal((await client.raw('GET', `${path}/stream`)).status, 204)
  const { body: list } = await client.request('GET', `${path}/messages`)
  const said = [...text.matchAll(/"delta":"([^"]*)"/g)].map(([, delta]) => delta).join('')
  assert.equal(list.data[1].parts[0].text, said)
  await service.close()
})
