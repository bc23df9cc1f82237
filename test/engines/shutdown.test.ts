import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, before, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { onPostgres } from '../database.ts'
import { type ModelServer, startModelServer } from '../fakes/model-server.ts'
import { tokens } from '../fakes/reply.ts'
import { newKey } from '../new-key.ts'
import { readStream } from '../read-stream.ts'
import { newHome, spawnService } from '../spawn-service.ts'
import { type Client, clientOf, startService } from '../start.ts'
import { until } from '../until.ts'
import { publicAgent } from '../visitor.ts'

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

/** Much longer than a process takes to end, and much shorter than what it would let an answer take. */
const SOON_MS = 15_000

const VISITOR = { authorization: `Bearer ${'v'.repeat(43)}` }

/** Opens what tabs and other clients hold, and returns what the streams of the tabs say until their end. */
async function openTabs(url: string, client: Client, agentId: string): Promise<Promise<string>[]> {
  const widget = `/api/widget/agents/${agentId}`
  const written = await client.request(
    'POST',
    `${widget}/messages`,
    { messageId: crypto.randomUUID(), message: 'Hello' },
    VISITOR,
  )
  assert.equal(written.status, 201)
  const talk = `${widget}/conversations/${written.body.data.conversationId}`
  await until(
    'the answer',
    async () => (await client.request('GET', talk, undefined, VISITOR)).body.data.messages.length === 2,
  )
  const streams = await Promise.all([
    client.raw('GET', `/agents/${agentId}/helpdesk/events`),
    fetch(`${url}${talk}/events`, { headers: VISITOR }),
  ])
  for (const { status } of streams) assert.equal(status, 200)
  const body = `host: x\r\nauthorization: Bearer ${client.key}\r\ncontent-length: 9000\r\n`
  const clients = [
    // An idle connection, one in the middle of a head, and two in the middle of a body.
    'GET /health HTTP/1.1\r\nhost: x\r\n\r\n',
    'GET /health HTTP/1.1\r\nhost: x\r\n',
    `POST /api/v2/agents HTTP/1.1\r\n${body}content-type: application/json\r\n\r\n{`,
    `POST /api/v2/agents/${agentId}/sources HTTP/1.1\r\n${body}content-type: multipart/form-data; boundary=b\r\n\r\n--b`,
  ]
  for (const text of clients) {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    socket.on('error', () => {})
    await new Promise((sent) => socket.write(text, sent))
  }
  // So that the service has read what it was sent.
  await wait(1_000)
  return streams.map((stream) => stream.text())
}

const soon = <A>(what: Promise<A>): Promise<A | 'late'> =>
  Promise.race([what, wait(SOON_MS, 'late' as const)])

test('SIGTERM ends a process at once that only has listeners, idle clients and half a request', async () => {
  const home = await newHome()
  const key = await newKey(home)
  const running = await spawnService({ ...home.env, ...env() })
  const client = clientOf(running.url, key)
  const tabs = await openTabs(running.url, client, await publicAgent(client))
  assert.equal(await soon(running.kill('SIGTERM')), 0)
  // The streams have ended in order; one that was cut off would be rejected.
  assert.equal((await Promise.all(tabs)).length, 2)
  await home.remove()
})

test('while the last answer is finished, tabs have already been sent away', async () => {
  const home = await newHome()
  const key = await newKey(home)
  const running = await spawnService({ ...home.env, ...env() })
  const client = clientOf(running.url, key)
  const agentId = await publicAgent(client)
  const tabs = await openTabs(running.url, client, agentId)
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  models.queue.push({
    tokens: tokens(20),
    beforeToken: (index) => (index < 10 ? Promise.resolve() : released),
  })
  const body = JSON.stringify({ message: 'Long' })
  const reading = readStream(await client.raw('POST', `/agents/${agentId}/chat`, { body, headers: json }))
  const ended = running.kill('SIGTERM')
  assert.equal((await Promise.all(tabs)).length, 2)
  assert.ok(running.isAlive())
  release()
  assert.equal((await reading).text, tokens(20).join(''))
  assert.equal(await soon(ended), 0)
  await home.remove()
})

test('a reader of an answer of another process is sent there', {
  skip: !onPostgres() && 'needs PostgreSQL',
}, async () => {
  const home = await newHome()
  const key = await newKey(home)
  const [answering, leaving] = await Promise.all([
    spawnService({ ...home.env, ...env() }),
    spawnService({ ...home.env, ...env() }),
  ])
  const client = clientOf(answering.url, key)
  const agentId = await publicAgent(client)
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  models.queue.push({
    tokens: tokens(20),
    beforeToken: (index) => (index < 10 ? Promise.resolve() : released),
  })
  const body = JSON.stringify({ message: 'Long' })
  const headers = { ...json, 'idempotency-key': 'long' }
  const response = await client.raw('POST', `/agents/${agentId}/chat`, { body, headers })
  const other = clientOf(leaving.url, key)
  const reader = await other.raw('POST', `/agents/${agentId}/chat`, { body, headers })
  const text = reader.text()
  assert.equal(await soon(leaving.kill('SIGTERM')), 0)
  assert.match(await text, /token0/)
  assert.doesNotMatch(await text, /event: finish|DONE/)
  release()
  assert.equal((await readStream(response)).text, tokens(20).join(''))
  await answering.kill('SIGKILL')
  await home.remove()
})
