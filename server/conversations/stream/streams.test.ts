import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import { type ModelServer, startModelServer } from '../../../test/fakes/model-server.ts'
import { NEVER, tokens } from '../../../test/fakes/reply.ts'
import { readStream } from '../../../test/read-stream.ts'
import { type Answer, type Client, type Service, startService } from '../../../test/start.ts'
import { until } from '../../../test/until.ts'
import { withoutBlocks } from '../../../test/without-blocks.ts'
import { plans } from '../../accounts/plans/plans.ts'
import { newId } from '../../platform/db/ids.ts'
import { reconcile } from '../records/reconcile-credits.ts'

let models: ModelServer
let service: Service
let client: Client
let agentId: string

before(async () => {
  models = await startModelServer()
  service = await startService(models.settings)
  client = await service.account()
  agentId = (await client.request('POST', '/agents', { name: 'Agent' })).body.id
})
after(async () => {
  assert.deepEqual(await reconcile(service.ctx.db), { balanced: true, difference: 0 })
  await service.close()
  await models.close()
})

const json = { 'content-type': 'application/json' }
const ofConversation = (id: string, rest = '') => `/agents/${agentId}/conversations/${id}${rest}`
const stream = (body: object, headers = {}, who = client, signal?: AbortSignal) =>
  who.raw('POST', `/agents/${agentId}/chat`, {
    body: JSON.stringify(body),
    headers: { ...json, ...headers },
    ...(signal ? { signal } : {}),
  })
const say = (body: object, who = client): Promise<Answer> =>
  who.request('POST', `/agents/${agentId}/chat`, { stream: false, ...body })
const messagesOf = async (id: string, who = client) =>
  (await who.request('GET', ofConversation(id, '/messages'))).body.data
const newConversation = async (): Promise<string> =>
  (await say({ message: 'Hello' })).body.data.metadata.conversationId

/** Reads a stream until `events` events have arrived (null: to its end). Returns the raw text and the reader. */
async function readUntil(response: Response, events: number): Promise<string> {
  const reader = response.body!.getReader()
  const decoder = new TextDecoder()
  let text = ''
  while (text.split('\n\n').length - 1 < events) {
    const { value, done } = await reader.read()
    if (done) break
    text += decoder.decode(value, { stream: true })
  }
  await reader.cancel()
  return text.split('\n\n').slice(0, events).join('\n\n')
}
const conversationIn = (text: string): string => /"conversationId":"([^"]+)"/.exec(text)![1]!

test('a stream cut after any of its events is stored once, and the rest can be read', async () => {
  const words = tokens(54)
  // start, message-metadata, start-step, text-start, 54 words, text-end, finish-step, finish
  const total = 61
  const whole = words.join('')
  const conversations: string[] = []
  // The model is slow, so that most cuts happen in the middle of an answer.
  models.otherwise(({ body }) =>
    JSON.stringify(body).includes('Write a title') ? { tokens: ['Title'] } : { tokens: words, delayMs: 3 },
  )
  // Each cut has its own conversation. They run a few at a time and use several accounts, to stay within the rate
  // limit.
  for (let cut = 2; cut < total; cut += 12) {
    const owner = await service.account()
    const agent = (await owner.request('POST', '/agents', { name: 'A' })).body.id
    const path = (id: string, rest: string) => `/agents/${agent}/conversations/${id}${rest}`
    const cuts = Array.from({ length: Math.min(12, total - cut) }, (_, i) => cut + i)
    await Promise.all(
      cuts.map(async (at) => {
        const response = await owner.raw('POST', `/agents/${agent}/chat`, {
          body: JSON.stringify({ message: `cut ${at}` }),
          headers: json,
        })
        const seen = await readUntil(response, at)
        const id = conversationIn(seen)
        conversations.push(id)
        const rest = await owner.raw('GET', path(id, '/stream'), { headers: { 'last-event-id': String(at) } })
        if (rest.status === 200) {
          const { events } = await readStream(rest, at)
          assert.equal(at + events.length, total, `after ${at} exactly the missing events come`)
          const said = seen + events.map(({ data }) => JSON.stringify(data)).join('\n')
          const heard = [...said.matchAll(/"delta":"([^"]*)"/g)].map(([, delta]) => delta).join('')
          assert.equal(heard, whole)
        } else assert.equal(rest.status, 204)
        const [question, answer, ...more] = (await owner.request('GET', path(id, '/messages'))).body.data
        assert.equal(question.parts[0].text, `cut ${at}`)
        assert.deepEqual(answer.parts, [{ type: 'text', text: whole }])
        assert.equal(more.length, 0)
      }),
    )
  }
  assert.equal(new Set(conversations).size, total - 2)
  models.otherwise(() => ({ tokens: ['Hello.'] }))
})

test('concurrent and late readers see the same events', async () => {
  models.queue.push({ tokens: tokens(30), delayMs: 8 })
  const conversationId = await newConversation()
  models.queue.push({ tokens: tokens(30), delayMs: 8 })
  const first = await stream({ message: 'Again', conversationId })
  const second = await client.raw('GET', ofConversation(conversationId, '/stream'))
  assert.equal(second.status, 200)
  await wait(100)
  const third = await client.raw('GET', ofConversation(conversationId, '/stream'))
  // This id is from the previous answer, so the reader has seen nothing of this one.
  const fourth = await client.raw('GET', ofConversation(conversationId, '/stream'), {
    headers: { 'last-event-id': '7' },
  })
  const all = await Promise.all([first, second, third, fourth].map((one) => readStream(one, 100_000)))
  for (const { events } of all) assert.deepEqual(events, all[0]!.events)
  const none = await client.raw('GET', ofConversation(conversationId, '/stream'))
  assert.deepEqual([none.status, await none.text()], [204, ''])
})

test('a reader is connected at once, before there are any events', async () => {
  const { promise: now, resolve: release } = Promise.withResolvers<void>()
  const conversationId = await newConversation()
  models.queue.push({ tokens: tokens(3), after: now })
  const asking = stream({ message: 'Again', conversationId })
  await until('the request', () => models.queue.length === 0)
  const reading = await client.raw('GET', ofConversation(conversationId, '/stream'), {
    // This must happen before the first ping, which would also establish the connection.
    signal: AbortSignal.timeout(12_000),
  })
  assert.equal(reading.status, 200)
  release()
  const both = await Promise.all([readStream(await asking, 100_000), readStream(reading, 100_000)])
  assert.deepEqual(both[0].events, both[1].events)
})

test('stop ends the reply, keeps its text so far, and says whether there was one', async () => {
  const conversationId = await newConversation()
  const nothing = await client.request('POST', ofConversation(conversationId, '/stop'))
  assert.deepEqual([nothing.status, nothing.body], [200, { data: { stopped: false } }])

  models.queue.push({ tokens: tokens(500), delayMs: 10 })
  const response = await stream({ message: 'Tell me everything', conversationId })
  const reading = readStream(response, 100_000)
  await wait(150)
  const answers = await Promise.all(
    [1, 2].map(() => client.request('POST', ofConversation(conversationId, '/stop'))),
  )
  assert.ok(answers.some(({ body }) => body.data.stopped))
  const { text, events } = await reading
  const finish = events.at(-1)!.data as never as { finishReason: string }
  assert.equal(finish.finishReason, 'stop')
  const stored = (await messagesOf(conversationId)).at(-1)
  assert.equal(stored.parts[0].text, text)
  assert.ok(text.startsWith('token0 ') && text.length < 4_000)
  models.queue.push({ tokens: ['Fine.'] })
  assert.equal((await say({ message: 'Go on', conversationId })).body.data.parts[0].text, 'Fine.')
})

test('stop before the first word keeps only the question, and is charged if the provider was called', async () => {
  const conversationId = await newConversation()
  models.queue.push({ tokens: ['late'], after: NEVER })
  const asking = say({ message: 'Hm?', conversationId })
  await until('the request', () => models.queue.length === 0)
  assert.equal(
    (await client.request('POST', ofConversation(conversationId, '/stop'))).body.data.stopped,
    true,
  )
  const { body } = await asking
  assert.deepEqual([body.data.parts, body.data.metadata.usage.credits], [[], 1])
  assert.deepEqual(await reconcile(service.ctx.db), { balanced: true, difference: 0 })
  const stored = await messagesOf(conversationId)
  assert.equal(stored.at(-1).role, 'user')
})

test('a retry replaces the answer, and everything after it', async () => {
  models.queue.push({ tokens: ['One.'] })
  const conversationId = await newConversation()
  models.queue.push({ tokens: ['Two.'] })
  await say({ message: 'And then?', conversationId })
  const [, first] = await messagesOf(conversationId)
  models.queue.push({ tokens: ['One, better.'] })
  const retried = await client.request('POST', ofConversation(conversationId, '/retry'), {
    messageId: first.id,
    stream: false,
  })
  assert.equal(retried.status, 200)
  const after = await messagesOf(conversationId)
  assert.deepEqual(
    after.map(({ parts }: { parts: { text: string }[] }) => parts[0]!.text),
    ['Hello', 'One, better.'],
  )
  assert.equal(after[1].id, retried.body.data.id)
  assert.notEqual(after[1].id, first.id)
  assert.equal(retried.body.data.metadata.userMessageId, after[0].id)
  const asked = models.requests.findLast(({ body }) => !JSON.stringify(body).includes('Write a title'))!
  const [, question, ...rest] = asked.body.messages
  assert.deepEqual([withoutBlocks(question.content), rest], ['Hello', []])
  const page = await client.request('GET', ofConversation(conversationId, '/messages?limit=1'))
  assert.equal(page.body.pagination.total, 2)
})

test('repeating the key of an answer that was retried returns that answer', async () => {
  const headers = { 'idempotency-key': newId() }
  const ask = { message: 'Which?', stream: false }
  const path = `/agents/${agentId}/chat`
  models.queue.push({ tokens: ['The first.'] })
  const first = await client.request('POST', path, ask, headers)
  models.queue.push({ tokens: ['The second.'] })
  const { id, metadata } = first.body.data
  await client.request('POST', ofConversation(metadata.conversationId, '/retry'), {
    messageId: id,
    stream: false,
  })
  const again = await client.request('POST', path, ask, headers)
  assert.deepEqual(
    [again.status, again.body.data.id, again.body.data.parts],
    [200, id, first.body.data.parts],
  )
})

test('a retry that fails before its first word leaves the earlier answer', async () => {
  models.queue.push({ tokens: ['Good.'] })
  const conversationId = await newConversation()
  const [, answer] = await messagesOf(conversationId)
  models.queue.push({ status: 400 })
  const failed = await client.request('POST', ofConversation(conversationId, '/retry'), {
    messageId: answer.id,
    stream: false,
  })
  assert.equal(failed.status, 502)
  assert.deepEqual((await messagesOf(conversationId)).at(-1), answer)
})

test('a retry that is interrupted leaves the earlier messages', async () => {
  models.queue.push({ tokens: ['Good.'] })
  const conversationId = await newConversation()
  models.queue.push({ tokens: ['Better.'] })
  await say({ message: 'More', conversationId })
  const before = await messagesOf(conversationId)
  models.queue.push({ tokens: tokens(9), dropAfter: 3, delayMs: 5 })
  const broken = await client.request('POST', ofConversation(conversationId, '/retry'), {
    messageId: before[1].id,
    stream: false,
  })
  const { finishReason, usage } = broken.body.data.metadata
  assert.deepEqual([finishReason, usage.credits, broken.body.data.parts], ['error', 0, []])
  assert.deepEqual(await messagesOf(conversationId), before)
})

test('a retry of a message that is not an answer is rejected', async () => {
  const conversationId = await newConversation()
  const [question] = await messagesOf(conversationId)
  for (const messageId of [question.id, newId(), 'x']) {
    const { status, body } = await client.request('POST', ofConversation(conversationId, '/retry'), {
      messageId,
    })
    assert.deepEqual([status, body.error.code], [404, 'CHAT_RETRY_MESSAGE_NOT_FOUND'])
  }
  const other = await newConversation()
  await service.ctx.db.updateTable('conversations').set({ status: 'ended' }).where('id', '=', other).execute()
  const late = await client.request('POST', ofConversation(other, '/retry'), { messageId: newId() })
  assert.equal(
    late.body.error.code,
    'CHAT_RETRY_MESSAGE_NOT_FOUND',
    'what is missing comes before the status',
  )
  const [{ account_id, agent_id }] = (await service.ctx.db
    .selectFrom('conversations')
    .select(['account_id', 'agent_id'])
    .where('id', '=', conversationId)
    .execute()) as [{ account_id: never; agent_id: string }]
  const greeting = newId()
  await service.ctx.db
    .insertInto('messages')
    .values({
      id: greeting,
      account_id,
      agent_id,
      conversation_id: conversationId,
      seq: 0,
      role: 'assistant',
      parts: '[{"type":"text","text":"Hi"}]',
    })
    .execute()
  const { status, body } = await client.request('POST', ofConversation(conversationId, '/retry'), {
    messageId: greeting,
  })
  assert.deepEqual([status, body.error.code], [409, 'CHAT_RETRY_NO_USER_MESSAGE'])
})

test('the same Idempotency-Key is the same generation, streamed or not', async () => {
  const key = { 'idempotency-key': newId() }
  models.queue.push({ tokens: tokens(20), delayMs: 10 })
  const responses = await Promise.all([1, 2, 3].map(() => stream({ message: 'Once' }, key)))
  const heard = await Promise.all(responses.map((response) => readStream(response)))
  for (const { events } of heard) assert.deepEqual(events, heard[0]!.events)
  const later = await readStream(await stream({ message: 'Once' }, key))
  assert.equal(later.text, heard[0]!.text)
  assert.deepEqual(later.events.at(-1)!.data, heard[0]!.events.at(-1)!.data)
  const id = conversationIn(JSON.stringify(later.events))
  assert.equal((await messagesOf(id)).length, 2)
  const other = await client.request('POST', `/agents/${agentId}/chat`, { message: 'Other' }, key)
  assert.deepEqual([other.status, other.body.error.code], [409, 'IDEMPOTENCY_KEY_REUSED'])

  const asked = { 'idempotency-key': newId() }
  models.queue.push({ tokens: ['Only once.'] })
  const send = () =>
    client.request('POST', `/agents/${agentId}/chat`, { message: 'Json', stream: false }, asked)
  const answers = await Promise.all([send(), send(), send()])
  for (const { body } of [...answers, await send()]) assert.deepEqual(body, answers[0]!.body)
})

test('a failure is replayed under its key, since its message is stored', async () => {
  const key = { 'idempotency-key': newId() }
  models.queue.push({ status: 400 })
  const send = () => client.request('POST', `/agents/${agentId}/chat`, { message: 'Hm', stream: false }, key)
  const before = models.requests.length
  for (const { status, body } of [await send(), await send()]) {
    assert.deepEqual([status, body.error.code], [502, 'CHAT_PROVIDER_ERROR'])
    assert.deepEqual(body.error.details, { provider: 'openai-compatible' })
  }
  assert.equal(models.requests.length, before + 1)
})

/** Lets the statements that read this table fail with an error of the database until the returned function is called. */
async function breakTable(table: string, sqlState: string): Promise<() => Promise<unknown>> {
  const run = (text: string) => sql.raw(text).execute(service.ctx.db)
  await run(`create function fail_on_purpose() returns boolean language plpgsql as
    $$ begin raise exception 'on purpose' using errcode = '${sqlState}'; end $$`)
  await run(`alter table ${table} rename to ${table}_away`)
  await run(`create view ${table} as select * from ${table}_away where fail_on_purpose()`)
  return async () => {
    await run(`drop view ${table}`)
    await run(`alter table ${table}_away rename to ${table}`)
    await run('drop function fail_on_purpose')
  }
}

/** How many answers the model was asked for. */
const answersAsked = (): number =>
  models.requests.filter(({ body }) => !JSON.stringify(body).includes('Write a title')).length

for (const [sqlState, status, code] of [
  ['57P03', 503, 'SERVICE_OVERLOADED'],
  ['XX000', 500, 'INTERNAL_SERVER_ERROR'],
] as const) {
  test(`a question that failed with ${code} before its first word is answered under its key, once`, async () => {
    const agent = (await client.request('POST', '/agents', { name: 'With actions' })).body.id
    const action = { name: 'show_map', type: 'client', description: 'd', inputs: { type: 'object' } }
    assert.equal((await client.request('POST', `/agents/${agent}/actions`, action)).status, 201)
    const key = { 'idempotency-key': newId() }
    const asked = { message: 'Hm', stream: false }
    const send = () => client.request('POST', `/agents/${agent}/chat`, asked, key)
    const repair = await breakTable('actions', sqlState)
    for (const { status: got, body } of [await send(), await send()])
      assert.deepEqual([got, body.error?.code], [status, code])
    await repair()
    const before = answersAsked()
    models.queue.push({ tokens: ['At', ' last'], delayMs: 50 })
    const answers = await Promise.all([send(), send(), send()])
    for (const { status: got, body } of [...answers, await send()]) {
      assert.equal(got, 200)
      assert.deepEqual(body, answers[0]?.body)
    }
    assert.deepEqual(answers[0]?.body.data.parts, [{ type: 'text', text: 'At last' }])
    assert.equal(answersAsked(), before + 1)
    const { conversationId } = answers[0]!.body.data.metadata
    const { body } = await client.request('GET', `/agents/${agent}/conversations/${conversationId}/messages`)
    assert.deepEqual(
      body.data.map(({ role }: { role: string }) => role),
      ['user', 'assistant'],
    )
  })
}

test('a retried request returns the answer of the later turn that included it', async () => {
  const key = { 'idempotency-key': newId() }
  const send = () =>
    client.request('POST', `/agents/${agentId}/chat`, { message: 'First?', stream: false }, key)
  models.queue.push({ tokens: ['Never'], after: NEVER })
  const lost = send()
  const {
    id,
    conversation_id: conversationId,
    ...told
  } = await until('the generation', () =>
    service.ctx.db
      .selectFrom('generations')
      .select(['id', 'conversation_id', 'user_message_id', 'message_id'])
      .where('agent_id', '=', agentId)
      .where('status', '=', 'running')
      .executeTakeFirst(),
  )
  // Simulates a dead process, which has told its client the ids: the owner that the row names sends no beats.
  await service.ctx.db.updateTable('generations').set({ owner: newId() }).where('id', '=', id).execute()
  await service.ctx.orphans.closeAll()
  service.ctx.generations.get(id)?.abort('lost')
  assert.equal((await lost).status, 503)
  models.queue.push({ tokens: ['Both answered.'] })
  const second = await say({ message: 'Second?', conversationId })
  assert.equal(second.status, 200)
  const { data } = second.body
  const own = { data: { ...data, metadata: { ...data.metadata, userMessageId: told.user_message_id } } }
  assert.equal(data.id, told.message_id)
  assert.deepEqual((await send()).body, own)
  models.queue.push({ tokens: ['Third answered.'] })
  await say({ message: 'Third?', conversationId })
  assert.deepEqual((await send()).body, own)
  assert.equal((await messagesOf(conversationId)).length, 5)
})

test('ratings are set, changed and removed, and only on answers', async () => {
  const conversationId = await newConversation()
  const [question, answer] = await messagesOf(conversationId)
  const rate = (id: string, feedback: unknown) =>
    client.request('PATCH', ofConversation(conversationId, `/messages/${id}/feedback`), { feedback })
  for (const feedback of ['positive', 'negative']) {
    const { status, body } = await rate(answer.id, feedback)
    assert.deepEqual([status, body.data.feedback, body.data.id], [200, feedback, answer.id])
  }
  assert.equal((await messagesOf(conversationId))[1].feedback, 'negative')
  assert.equal((await rate(answer.id, null)).body.data.feedback, undefined)
  const wrong = await rate(question.id, 'positive')
  assert.deepEqual([wrong.status, wrong.body.error.code], [422, 'RESOURCE_MESSAGE_NOT_ASSISTANT'])
  const unknown = await rate(newId(), 'positive')
  assert.deepEqual([unknown.status, unknown.body.error.code], [404, 'RESOURCE_MESSAGE_NOT_FOUND'])
})

test('a conversation is paused and resumed', async () => {
  const conversationId = await newConversation()
  const set = (paused: boolean) => client.request('PATCH', ofConversation(conversationId), { paused })
  assert.deepEqual((await set(true)).body, { data: { id: conversationId, status: 'paused' } })
  assert.equal((await set(true)).status, 200)
  const refused = await say({ message: 'Anyone?', conversationId })
  assert.deepEqual([refused.status, refused.body.error.code], [409, 'CHAT_CONVERSATION_NOT_ONGOING'])
  assert.deepEqual(refused.body.error.details, { status: 'paused' })
  assert.equal((await messagesOf(conversationId)).length, 2, 'nothing is stored')
  assert.equal((await set(false)).body.data.status, 'ongoing')
  assert.equal((await say({ message: 'Anyone?', conversationId })).status, 200)
})

test('a conversation that continues another one knows its content', async () => {
  models.queue.push({ tokens: ['Size 42.'] })
  const first = await say({ message: 'Which size fits me?' })
  const parentConversationId = first.body.data.metadata.conversationId
  models.otherwise(({ body }) =>
    JSON.stringify(body).includes('Summarise this conversation')
      ? { tokens: ['The customer needs size 42.'] }
      : { tokens: ['As before.'] },
  )
  const second = await say({ message: 'And in red?', parentConversationId })
  const { conversationId } = second.body.data.metadata
  const { body } = await client.request('GET', ofConversation(conversationId))
  assert.equal(body.data.parentConversationId, parentConversationId)
  assert.equal(body.data.parentSummary, 'The customer needs size 42.')
  await say({ message: 'And in blue?', conversationId })
  const asked = models.requests.findLast(({ body }) => JSON.stringify(body).includes('And in blue?'))!
  const [, , ...others] = asked.body.messages
  assert.match(asked.body.messages[1].content, /The customer needs size 42[\s\S]*And in red\?/)
  assert.doesNotMatch(JSON.stringify(others), /size 42/, 'it stands where it stays')
  const foreign = await service.account()
  const theirs = (await foreign.request('POST', '/agents', { name: 'X' })).body.id
  const stolen = await foreign.request('POST', `/agents/${theirs}/chat`, {
    message: 'x',
    parentConversationId,
  })
  assert.deepEqual([stolen.status, stolen.body.error.code], [404, 'RESOURCE_NOT_FOUND'])
})

test('a conversation of a user is continued by the same user only', async () => {
  const { metadata } = (await say({ message: 'Which size fits me?', userId: 'ann' })).body.data
  const goOn = async (fields: object, parentConversationId = metadata.conversationId) => {
    const { status, body } = await say({ message: 'And in red?', parentConversationId, ...fields })
    return [status, body.error?.code]
  }
  assert.deepEqual(await goOn({ userId: 'ann' }), [200, undefined])
  assert.deepEqual(await goOn({ userId: 'bob' }), [404, 'RESOURCE_NOT_FOUND'])
  assert.deepEqual(await goOn({}), [404, 'RESOURCE_NOT_FOUND'])
  assert.deepEqual(await goOn({}, crypto.randomUUID()), [404, 'RESOURCE_NOT_FOUND'])
  const nobodys = (await say({ message: 'Hello' })).body.data.metadata.conversationId
  assert.deepEqual(await goOn({}, nobodys), [200, undefined])
  assert.deepEqual(await goOn({ userId: 'ann' }, nobodys), [200, undefined])
})

test('images and files in a message are rejected with a clear message', async () => {
  const { status, body } = await say({ message: [{ type: 'image', url: 'https://example.com/a.png' }] })
  assert.equal(status, 400)
  assert.match(body.error.details.message, /Images and files/)
})

test("an account at its plan's limit of concurrent answers waits, and others do not", async () => {
  const greedy = await service.account({ plan: 'standard' })
  const greedyAgent = (await greedy.request('POST', '/agents', { name: 'Agent' })).body.id
  const most = plans.standard.answersAtOnce
  const held = Promise.withResolvers<void>()
  const asks = (body: unknown): boolean => JSON.stringify(body).includes('greedy question')
  models.otherwise(({ body }) => ({ tokens: ['Well.'], ...(asks(body) ? { after: held.promise } : {}) }))
  const asked = () => models.requests.filter(({ body }) => asks(body)).length
  const answers = Array.from({ length: most + 2 }, () =>
    greedy.request('POST', `/agents/${greedyAgent}/chat`, { message: 'A greedy question', stream: false }),
  )
  await until('as many calls as it may have', () => asked() === most)
  assert.equal((await say({ message: 'Another question' })).status, 200)
  assert.equal(asked(), most)
  held.resolve()
  assert.deepEqual(new Set((await Promise.all(answers)).map(({ status }) => status)), new Set([200]))
  models.otherwise(() => ({ tokens: ['Hello', ' from', ' the', ' model.'] }))
})
