import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { type ModelServer, startModelServer } from '../../../test/fakes/model-server.ts'
import { type Answer, type Client, type Service, startService } from '../../../test/start.ts'
import { until } from '../../../test/until.ts'
import { withoutBlocks } from '../../../test/without-blocks.ts'
import { reconcile } from '../../conversations/records/reconcile-credits.ts'
import { endTurn, lockConversation } from '../../conversations/turn/end-turn.ts'
import { transact } from '../../platform/db/statements/transact.ts'

let models: ModelServer
let service: Service
let client: Client
let chatbotId: string

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
  chatbotId = (await call('POST', '/create-chatbot', { chatbotName: 'Bot' })).body.chatbotId
  models.queue.length = 0
  models.requests.length = 0
})

const call = (method: string, path: string, body?: unknown): Promise<Answer> =>
  client.request(method, `/api/v1${path}`, body)
const user = (content: string) => ({ role: 'user', content })
const assistant = (content: string) => ({ role: 'assistant', content })
const say = (body: object): Promise<Answer> =>
  call('POST', '/chat', { chatbotId, messages: [user('Hi')], ...body })
const stream = (body: object, accept = '*/*'): Promise<Response> =>
  fetch(`${service.url}/api/v1/chat`, {
    method: 'POST',
    headers: { authorization: `Bearer ${client.key}`, 'content-type': 'application/json', accept },
    body: JSON.stringify({ chatbotId, messages: [user('Hi')], stream: true, ...body }),
  })
const stored = async (): Promise<{ id: string; messages: { role: string; content: string }[] }[]> =>
  (await call('GET', `/get-conversations?chatbotId=${chatbotId}`)).body.data
const heard = (index = -1): { role: string; content: string }[] =>
  models.requests
    .filter(({ wire }) => wire === 'chat')
    .at(index)
    ?.body.messages.slice(1)
    .map(({ role, content }: { role: string; content: string }) => ({
      role,
      content: withoutBlocks(content),
    }))
const rowsOf = async (table: 'conversations' | 'messages' | 'generations'): Promise<number> =>
  (await service.ctx.db.selectFrom(table).select('id').where('account_id', '=', client.accountId).execute())
    .length
const creditsUsed = async (): Promise<number> => (await client.request('GET', '/me')).body.credits.used

test('without conversationId nothing is stored, credits are charged, and the ledger balances', async () => {
  const messages = [assistant('Welcome!'), user('My name is Ann.'), assistant('Hello Ann.'), user('My name?')]
  const { status, body } = await say({ messages })
  assert.deepEqual([status, body], [200, { text: 'Hello from the model.', sources: [] }])
  assert.deepEqual(heard(), messages.slice(1))
  for (const table of ['conversations', 'messages', 'generations'] as const) {
    assert.equal(await rowsOf(table), 0, table)
  }
  assert.equal(await creditsUsed(), 1)
  assert.deepEqual(await reconcile(service.ctx.db), { balanced: true, difference: 0 })
})

test('a reply that fails before its first word costs nothing and leaves nothing behind', async () => {
  models.queue.push({ status: 500 }, { status: 500 }, { status: 500 })
  const { status, body } = await say({})
  assert.deepEqual([status, Object.keys(body)], [502, ['message']])
  assert.deepEqual([await rowsOf('conversations'), await creditsUsed()], [0, 0])
  assert.equal((await reconcile(service.ctx.db)).balanced, true)
})

test('when the process of an unstored reply dies, the reply and its credits are settled', async () => {
  models.queue.push({ tokens: ['One', ' two'], stallAfter: 1 })
  const response = await stream({})
  const reader = response.body!.getReader()
  await reader.read()
  // Neither its list nor that of version 2 shows anything while it runs.
  assert.deepEqual(await stored(), [])
  const { body } = await client.request('GET', `/agents/${chatbotId}/conversations`)
  assert.deepEqual([body.data, body.pagination.total], [[], 0])
  assert.equal(await rowsOf('conversations'), 1)
  await service.ctx.db
    .updateTable('generations')
    .set({ owner: null })
    .where('status', '=', 'running')
    .execute()
  await service.ctx.orphans.closeAll()
  assert.equal(await rowsOf('conversations'), 0)
  assert.equal((await reconcile(service.ctx.db)).balanced, true)
  // Its stream is cut off as soon as its owner notices.
  await reader.cancel().catch(() => {})
})

test('a reply whose end was stored without an acknowledgement is returned all the same', async () => {
  const { db, deliverAnswer, process, generations } = service.ctx
  const goOn = Promise.withResolvers<void>()
  models.queue.push({ tokens: ['Hello.'], after: goOn.promise })
  const answer = say({})
  const live = await until('the generation', async () => {
    const row = await db
      .selectFrom('generations')
      .select('id')
      .where('account_id', '=', client.accountId)
      .executeTakeFirst()
    return row && generations.get(row.id)
  })
  await until('the request to the model', () => models.requests.some(({ wire }) => wire === 'chat'))
  const ref = { accountId: client.accountId, agentId: chatbotId }
  const { ids } = live
  const own = { owner: process.id, epoch: ids.epoch, ownerAfter: process.id }
  // While the process waits for the conversation, the attempt of which it has not heard is carried out.
  await transact(db, async (trx) => {
    await lockConversation(trx, client.accountId, ids.conversationId)
    goOn.resolve()
    await until('the end of the text', () => live.count === 6)
    // Whoever ends an answer takes the rest of its log along.
    live.takeUnlogged()
    await endTurn({ deliverAnswer }, trx, ref, ids, own, {
      status: 'finished',
      finishReason: 'stop',
      message: { parts: [{ type: 'text', text: 'Hello.' }], metadata: { model: 'fake' } },
      isPaid: true,
      waiting: [],
      unlogged: { position: 0, events: [] },
      told: { hasBegun: true },
    })
  })
  const { status, body } = await answer
  assert.deepEqual([status, body], [200, { text: 'Hello.', sources: [] }])
  assert.equal(await creditsUsed(), 1)
  assert.equal((await reconcile(db)).balanced, true)
})

test('a chosen conversationId collects the last message and the reply of each call', async () => {
  const conversationId = 'order 17/ü?'
  await say({ conversationId, messages: [user('One'), assistant('Eins'), user('Two')] })
  await say({ conversationId, messages: [user('Three')] })
  const [conversation, ...others] = await stored()
  assert.deepEqual(others, [])
  assert.equal(conversation?.id, conversationId)
  assert.deepEqual(
    conversation.messages.map(({ role, content }) => `${role}: ${content}`),
    ['user: Two', 'assistant: Hello from the model.', 'user: Three', 'assistant: Hello from the model.'],
  )
  // A single message continues the stored conversation; several messages are the history themselves.
  assert.deepEqual(heard(), [user('Two'), assistant('Hello from the model.'), user('Three')])
  await say({ conversationId, messages: [user('X'), assistant('Y'), user('Z')] })
  assert.deepEqual(heard(), [user('X'), assistant('Y'), user('Z')])
  assert.equal((await reconcile(service.ctx.db)).balanced, true)
})

test('twelve concurrent first messages make one conversation, and each is answered', async () => {
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, i) => say({ conversationId: 'shared', messages: [user(`Message ${i}`)] })),
  )
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
  const [conversation, ...others] = await stored()
  assert.deepEqual(others, [])
  const said = conversation!.messages.map(({ role }) => role)
  assert.deepEqual(
    said,
    Array.from({ length: 24 }, (_, i) => (i % 2 === 0 ? 'user' : 'assistant')),
  )
  assert.equal((await reconcile(service.ctx.db)).balanced, true)
})

test('the same conversationId is separate for each chatbot and account', async () => {
  await say({ conversationId: 'a' })
  const other = (await call('POST', '/create-chatbot', { chatbotName: 'Other' })).body.chatbotId
  await say({ chatbotId: other, conversationId: 'a' })
  assert.equal((await stored())[0]?.messages.length, 2)
  const [first] = await stored()
  assert.equal(first?.id, 'a')
})

test('a conversation of version 2 continues under the id that get-conversations returns', async () => {
  const { body } = await client.request('POST', `/agents/${chatbotId}/chat`, { message: 'A', stream: false })
  const { conversationId } = body.data.metadata
  await say({ conversationId, messages: [user('B')] })
  const [conversation] = await stored()
  assert.deepEqual([conversation?.id, conversation?.messages.length], [conversationId, 4])
  // A conversation of version 1 is also one of version 2.
  await say({ conversationId: 'mine' })
  const list = await client.request('GET', `/agents/${chatbotId}/conversations`)
  assert.equal(list.body.pagination.total, 2)
})

test('a conversation that is not ongoing is rejected', async () => {
  await say({ conversationId: 'x' })
  const { id } = (await client.request('GET', `/agents/${chatbotId}/conversations`)).body.data[0]
  await client.request('PATCH', `/agents/${chatbotId}/conversations/${id}`, { paused: true })
  const { status, body } = await say({ conversationId: 'x' })
  assert.equal(status, 409)
  assert.deepEqual(Object.keys(body), ['message'])
})

test('contactId assigns the conversation to the contact; an unknown one is not found', async () => {
  const users = [{ external_id: 'ann-1' }, { external_id: 'Bob Ö' }]
  await call('POST', `/chatbots/${chatbotId}/contacts`, { users })
  await say({ conversationId: 'a', contactId: 'ann-1' })
  await say({ conversationId: 'b', contactId: 'Bob Ö' })
  const rows = await service.ctx.db
    .selectFrom('conversations')
    .innerJoin('contacts', 'contacts.id', 'conversations.contact_id')
    .select(['conversations.user_id', 'contacts.external_id'])
    .where('conversations.account_id', '=', client.accountId)
    .orderBy('conversations.created_at')
    .execute()
  assert.deepEqual(rows, [
    { user_id: 'ann-1', external_id: 'ann-1' },
    { user_id: null, external_id: 'Bob Ö' },
  ])
  const ofUser = await client.request('GET', `/agents/${chatbotId}/users/ann-1/conversations`)
  assert.equal(ofUser.body.data.length, 1)
  for (const body of [{ contactId: 'nobody' }, { contactId: 'nobody', conversationId: 'c' }]) {
    assert.equal((await say(body)).status, 404)
  }
  // Deleting the contact keeps the conversations.
  assert.equal((await call('DELETE', `/chatbots/${chatbotId}/contacts/ann-1`)).status, 200)
  assert.equal((await stored()).length, 2)
})

test('model and temperature of the request override those of the chatbot', async () => {
  await call('POST', '/update-chatbot-settings', { chatbotId, temp: 0.3 })
  await say({})
  assert.equal(models.requests.at(-1)?.body.temperature, 0.3)
  await say({ temperature: 1 })
  assert.equal(models.requests.at(-1)?.body.temperature, 1)
  const before = models.requests.length
  assert.equal((await say({ model: 'builtin' })).status, 200)
  assert.equal(models.requests.length, before)
  for (const body of [{ model: 'unheard-of' }, { temperature: 1.01 }, { temperature: -0.1 }]) {
    assert.deepEqual((await say(body)).body, { message: 'Invalid request data' })
  }
})

test('client actions are not offered, because nobody could run them', async () => {
  const action = { name: 'open_page', type: 'client', description: 'x', inputs: { type: 'object' } }
  assert.equal((await client.request('POST', `/agents/${chatbotId}/actions`, action)).status, 201)
  await say({})
  assert.equal(models.requests.at(-1)?.body.tools, undefined)
})

test('plain text is streamed, containing only the answer', async () => {
  models.queue.push({ tokens: ['Zwölf ', 'größte\n', '日本 ', '🙂'], delayMs: 20 })
  const response = await stream({})
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('content-type'), 'text/plain; charset=utf-8')
  assert.ok(response.headers.get('x-request-id'))
  const pieces: string[] = []
  const decoder = new TextDecoder('utf-8', { fatal: true })
  for await (const bytes of response.body!) pieces.push(decoder.decode(bytes))
  assert.equal(pieces.join(''), 'Zwölf größte\n日本 🙂')
  assert.ok(pieces.length > 1)
})

test('a request that accepts events gets them, ending with [DONE]', async () => {
  models.queue.push({ tokens: ['One\n\n', 'data: [DONE]'] })
  const response = await stream({ conversationId: 's' }, 'text/event-stream')
  assert.equal(response.headers.get('content-type'), 'text/event-stream')
  const events = (await response.text()).split('\n\n').filter(Boolean)
  assert.equal(events.pop(), 'data: [DONE]')
  const text = events.map((event) => JSON.parse(event.slice('data: '.length)).text).join('')
  assert.equal(text, 'One\n\ndata: [DONE]')
  assert.equal((await stored())[0]?.messages[1]?.content, text)
})

test('a stream that fails halfway does not look complete', async () => {
  models.queue.push({ tokens: ['Half', ' an', ' answer'], dropAfter: 2, delayMs: 20 })
  await assert.rejects((await stream({})).text())
  models.queue.push({ tokens: ['Half', ' an', ' answer'], dropAfter: 2, delayMs: 20 })
  const events = await (await stream({}, 'text/event-stream')).text()
  assert.match(events, /event: error\ndata: {"message":"Internal server error"}\n\ndata: \[DONE\]\n\n$/)
  models.queue.push({ tokens: ['Half', ' an', ' answer'], dropAfter: 2, delayMs: 20 })
  const { status, body } = await say({})
  assert.deepEqual([status, Object.keys(body)], [502, ['message']])
  assert.equal(await rowsOf('conversations'), 0)
  assert.equal((await reconcile(service.ctx.db)).balanced, true)
})

test('a stream that fails before its first word is an ordinary error', async () => {
  models.queue.push({ status: 500 }, { status: 500 }, { status: 500 })
  const response = await stream({}, 'text/event-stream')
  assert.equal(response.status, 502)
  assert.deepEqual(Object.keys((await response.json()) as object), ['message'])
})

test('nothing is lost when a client disconnects', async () => {
  models.queue.push({ tokens: ['One', ' two', ' three'], delayMs: 30 })
  const response = await stream({ conversationId: 'left' })
  const reader = response.body!.getReader()
  await reader.read()
  await reader.cancel()
  while ((await rowsOf('messages')) < 2) await wait(20)
  assert.equal((await stored())[0]?.messages[1]?.content, 'One two three')
})

test('exhausted credits result in 403', async () => {
  await client.request('PUT', `/agents/${chatbotId}`, { creditLimit: 1 })
  assert.equal((await say({})).status, 200)
  const { status, body } = await say({})
  assert.deepEqual([status, body], [403, { message: 'Access denied or quota exceeded' }])
  assert.equal(await rowsOf('conversations'), 0)
})

test('identical requests with one Idempotency-Key are answered once', async () => {
  const body = { chatbotId, messages: [user('Hi')], conversationId: 'i' }
  const send = () => client.request('POST', '/api/v1/chat', body, { 'idempotency-key': 'k-1' })
  const [first, second] = [await send(), await send()]
  assert.deepEqual(first.body, second.body)
  assert.equal(second.headers.get('idempotency-replayed'), 'true')
  assert.equal((await stored())[0]?.messages.length, 2)
})

test('a lead from an unstored chat is kept and listed', async () => {
  const action = { name: 'take_details', type: 'collect-leads', description: 'x' }
  assert.equal((await client.request('POST', `/agents/${chatbotId}/actions`, action)).status, 201)
  const input = { name: 'Eve', email: 'eve@example.com' }
  models.queue.push({ toolCalls: [{ id: 'c1', name: 'take_details', input }] }, { tokens: ['Noted.'] })
  assert.deepEqual((await say({})).body, { text: 'Noted.', sources: [] })
  const { collectedCustomers } = (await call('GET', `/get-leads?chatbotId=${chatbotId}`)).body
  assert.deepEqual([collectedCustomers.length, collectedCustomers[0].email], [1, 'eve@example.com'])
  assert.equal(await rowsOf('conversations'), 0)
})
