import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, beforeEach, test } from 'node:test'
import { type ModelServer, startModelServer } from '../../../../test/fakes/model-server.ts'
import { NEVER, tokens } from '../../../../test/fakes/reply.ts'
import { type Client, type Service, startService } from '../../../../test/start.ts'
import { until } from '../../../../test/until.ts'
import { publicAgent, type Visitor, visitorOf } from '../../../../test/visitor.ts'
import { creditsUsed } from '../../../accounts/plans/credits.ts'
import { reconcile } from '../../../conversations/records/reconcile-credits.ts'
import { MAX_STARTS } from '../../../conversations/turn/plan-turn.ts'

let models: ModelServer
let service: Service
let client: Client
let agentId: string
let visitor: Visitor

before(async () => {
  models = await startModelServer()
  service = await startService(models.settings)
})
after(async () => {
  await service.close()
  await models.close()
})
beforeEach(async () => {
  client = await service.account()
  agentId = await publicAgent(client)
  visitor = visitorOf(service, agentId)
  models.queue.length = 0
  models.requests.length = 0
  models.otherwise(() => ({ tokens: tokens(3), after: NEVER }))
})

const agent = () => `/agents/${agentId}`
const limitTo = (limit: number) =>
  client.request('PUT', agent(), { ipRateLimits: { limit, timeframe: 3_600, message: 'Slowly, please.' } })
const send = (messageId: string, more = {}) =>
  visitor.request('POST', '/messages', { messageId, message: 'Hello?', ...more })
const stop = async (conversationId: string) => {
  const { body } = await visitor.request('POST', `/conversations/${conversationId}/stop`)
  assert.equal(body.data.stopped, true)
}
/** What the model was asked for answers: the title of an earlier test's conversation may be asked for at any time. */
const requests = () => models.requests.filter(({ body }) => !JSON.stringify(body).includes('Write a title'))
const asked = (count: number) => until(`request ${count}`, () => requests().length >= count)

test('repeatedly stopping and sending again is rate-limited and charged', async () => {
  await limitTo(3)
  const messageId = randomUUID()
  const statuses: number[] = []
  for (let tries = 0; tries < 6; tries++) {
    const { status, body } = await send(messageId)
    statuses.push(status)
    if (status !== 201) continue
    assert.equal(body.data.answering, true)
    await asked(tries + 1)
    // Sending the message again while it is being answered starts nothing and counts nothing.
    assert.equal((await send(messageId)).status, 201)
    await stop(body.data.conversationId)
  }
  assert.deepEqual(statuses, [201, 201, 201, 429, 429, 429])
  assert.equal(requests().length, 3)
  assert.equal(await creditsUsed(service.ctx.db, client.accountId, agentId), 3)
  assert.deepEqual(await reconcile(service.ctx.db), { balanced: true, difference: 0 })
})

test('messages that are resent concurrently are admitted one by one', async () => {
  await limitTo(4)
  const messageId = randomUUID()
  const { body } = await send(messageId)
  await asked(1)
  await stop(body.data.conversationId)
  const answers = await Promise.all(Array.from({ length: 8 }, () => send(messageId)))
  const refused = answers.filter(({ status }) => status === 429).length
  assert.ok(refused <= 8 - 1, 'one of them is answered')
  await asked(2)
  await stop(body.data.conversationId)
  for (let more = 0; more < 4; more++) await send(messageId)
  assert.ok(requests().length <= 4, `${requests().length} requests`)
})

test('one message is answered at most ten times, whoever asks again', async () => {
  await limitTo(200)
  const messageId = randomUUID()
  let begun = 0
  for (;;) {
    const { body } = await send(messageId)
    if (!body.data.answering) break
    await asked(++begun)
    await stop(body.data.conversationId)
  }
  assert.equal(begun, MAX_STARTS)
  models.otherwise(() => ({ tokens: ['Yes.'] }))
  const { conversationId } = (await send(messageId)).body.data
  assert.equal((await visitor.write('Another one', { conversationId })).answering, true)
})

test("the agent's monthly limit includes stopped answers", async () => {
  await client.request('PUT', agent(), { creditLimit: 2 })
  const messageId = randomUUID()
  for (let stops = 1; stops <= 2; stops++) {
    const { body } = await send(messageId)
    await asked(stops)
    await stop(body.data.conversationId)
  }
  assert.equal((await send(messageId)).body.data.answering, false)
  assert.equal(requests().length, 2, JSON.stringify(requests()))
})

test('a result of the page counts, and a rejected one may be sent again', async () => {
  const action = { type: 'client', name: 'again', description: 'Calls again', inputs: { type: 'object' } }
  await client.request('POST', `${agent()}/actions`, action)
  models.otherwise(() => ({ toolCalls: [{ id: 'c', name: 'again', input: {} }] }))
  await limitTo(1)
  const { conversationId } = (await send(randomUUID())).body.data
  const { messages } = await until('the call', async () => {
    const conversation = await visitor.read(conversationId)
    return conversation.answering || !conversation.messages.at(-1).pendingCalls?.length ? null : conversation
  })
  const before = requests().length
  const submit = () =>
    visitor.request('POST', `/conversations/${conversationId}/tool-result`, {
      toolCallId: messages.at(-1).pendingCalls[0].toolCallId,
      output: 'done',
    })
  const refused = await submit()
  assert.deepEqual([refused.status, refused.body.error.message], [429, 'Slowly, please.'])
  assert.equal(requests().length, before)
  await limitTo(2)
  assert.deepEqual((await submit()).body, { data: { answering: true } })
})

test('an agent without credits classifies spam by words, not by a model', async () => {
  await client.request('PUT', agent(), {
    creditLimit: 0,
    spamSettings: { enabled: true, prompt: 'casino' },
  })
  assert.equal((await send(randomUUID())).body.data.answering, false)
  const spam = await visitor.write('Win at our casino')
  assert.equal((await visitor.read(spam.conversationId)).status, 'paused')
  assert.equal(requests().length, 0)
})

test('a site with many IPv6 networks may send ten times what one address may', async (t) => {
  const there = await startService({ TRUSTED_PROXIES: '127.0.0.1' })
  t.after(() => there.close())
  const owner = await there.account()
  const id = await publicAgent(owner)
  const limits = { limit: 2, timeframe: 3_600, message: 'Slowly, please.' }
  await owner.request('PUT', `/agents/${id}`, { ipRateLimits: limits })
  const from = async (address: string) => {
    const message = { messageId: randomUUID(), message: 'Hello?' }
    const sent = { 'x-forwarded-for': address }
    return (await visitorOf(there, id).request('POST', '/messages', message, sent)).status
  }
  const statuses = []
  for (let n = 0; n < 21; n++) statuses.push(await from(`2001:db8:1:${n.toString(16)}::1`))
  assert.deepEqual(statuses, [...Array(20).fill(201), 429])
  assert.equal(await from('2001:db8:2::1'), 201)
  await there.ctx.generations.idle()
})

test('the visitors of an agent without a credit limit may send a number of messages a day', async (t) => {
  const there = await startService({ TRUSTED_PROXIES: '127.0.0.1', VISITOR_MESSAGES_PER_DAY: '3' })
  t.after(() => there.close())
  const owner = await there.account()
  const [id, other] = [await publicAgent(owner), await publicAgent(owner)]
  let visitors = 0
  const ask = async (agentId: string) => {
    const message = { messageId: randomUUID(), message: 'Hello?' }
    const sent = { 'x-forwarded-for': `203.0.113.${++visitors}` }
    return (await visitorOf(there, agentId).request('POST', '/messages', message, sent)).status
  }
  const statuses = []
  for (let n = 0; n < 5; n++) statuses.push(await ask(id))
  assert.deepEqual(statuses, [201, 201, 201, 429, 429])
  assert.equal(await ask(other), 201)
  // The API continues, and a limit of the owner's own takes the place of this one.
  const chat = await owner.request('POST', `/agents/${id}/chat`, { message: 'Hello?', stream: false })
  assert.equal(chat.status, 200)
  await owner.request('PUT', `/agents/${id}`, { creditLimit: 1_000 })
  assert.equal(await ask(id), 201)
  await there.ctx.generations.idle()
})
