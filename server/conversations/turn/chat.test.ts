import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { onPostgres } from '../../../test/database.ts'
import { type ModelServer, startModelServer } from '../../../test/fakes/model-server.ts'
import { NEVER, tokens } from '../../../test/fakes/reply.ts'
import { readStream } from '../../../test/read-stream.ts'
import { reconcileByHand } from '../../../test/reconcile-by-hand.ts'
import { type Answer, type Client, type Service, startService } from '../../../test/start.ts'
import { trained, until } from '../../../test/until.ts'
import { withoutBlocks } from '../../../test/without-blocks.ts'
import { newId } from '../../platform/db/ids.ts'
import { CUSTOMER_SENTENCES } from '../../platform/text/languages/customer-sentences.ts'

let models: ModelServer
let service: Service
let client: Client
let agentId: string

before(async () => {
  models = await startModelServer()
  service = await startService({
    OPENAI_BASE_URL: `${models.url}/v1`,
    OPENAI_API_KEY: 'sk-test',
    OPENAI_MODEL: 'fake-model',
  })
  client = await service.account()
  agentId = (await client.request('POST', '/agents', { name: 'Agent', instructions: 'Be brief.' })).body.id
})
after(async () => {
  await service.close()
  await models.close()
})

const chat = (body: object, owner = client, agent = agentId) =>
  owner.raw('POST', `/agents/${agent}/chat`, {
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  })
const say = async (body: object, owner = client, agent = agentId) =>
  owner.request('POST', `/agents/${agent}/chat`, { stream: false, ...body })

test('a stream has every event in order, and both parsers read it', async () => {
  const { events, text, message } = await readStream(await chat({ message: 'Hello?', userId: 'user-1' }))
  assert.deepEqual(
    events.map(({ event }) => event),
    [
      'start',
      'message-metadata',
      'start-step',
      'text-start',
      'text-delta',
      'text-delta',
      'text-delta',
      'text-delta',
      'text-end',
      'finish-step',
      'finish',
    ],
  )
  assert.equal(text, 'Hello from the model.')
  const start = events[0]!.data as unknown as { messageId: string }
  const finish = events.at(-1)!.data as unknown as {
    finishReason: string
    messageMetadata: Record<string, unknown>
  }
  assert.equal(finish.finishReason, 'stop')
  assert.deepEqual(Object.keys(finish.messageMetadata).sort(), [
    'conversationId',
    'messageId',
    'usage',
    'userId',
    'userMessageId',
  ])
  assert.equal(finish.messageMetadata.messageId, start.messageId)
  assert.deepEqual(finish.messageMetadata.usage, { credits: 1 })
  assert.equal(finish.messageMetadata.userId, 'user-1')
  assert.equal(message?.id, start.messageId)
})

test('a JSON answer is returned, and the same conversation continues with its history', async () => {
  const first = await say({ message: 'My name is Ada.', userId: 'ada' })
  assert.equal(first.status, 200)
  const { conversationId, userId, finishReason, usage } = first.body.data.metadata
  assert.deepEqual([userId, finishReason, usage], ['ada', 'stop', { credits: 1 }])
  assert.deepEqual(first.body.data.parts, [{ type: 'text', text: 'Hello from the model.' }])

  const second = await say({ message: 'What is my name?', conversationId, userId: 'mallory' })
  assert.equal(second.body.data.metadata.conversationId, conversationId)
  assert.equal(second.body.data.metadata.userId, 'ada', 'the user of a conversation never changes')
  const { messages, temperature } = models.requests.findLast(({ body }) =>
    JSON.stringify(body).includes('What is my name?'),
  )!.body
  assert.equal(temperature, 0)
  assert.match(messages[0].content, /^Be brief\./)
  assert.deepEqual(
    messages
      .slice(1)
      .map(({ role, content }: { role: string; content: string }) => [role, withoutBlocks(content)]),
    [
      ['user', 'My name is Ada.'],
      ['assistant', 'Hello from the model.'],
      ['user', 'What is my name?'],
    ],
  )
  const { body } = await client.request('GET', `/agents/${agentId}/conversations/${conversationId}`)
  assert.deepEqual(
    body.data.messages.map(({ role }: { role: string }) => role),
    ['user', 'assistant', 'user', 'assistant'],
  )
  assert.equal(body.data.messages[1].id, first.body.data.id)
  assert.equal(body.pagination.total, 4)
})

test("the agent's and the channel's instructions and the passages reach the model, and citations are returned", async () => {
  const agent = (await client.request('POST', '/agents', { name: 'A', instructions: 'Speak like a pirate.' }))
    .body.id
  await client.request('PUT', `/agents/${agent}`, {
    channelInstructions: { api: 'One sentence.', email: 'With a greeting.' },
    temp: 0.4,
  })
  const source = { type: 'text', name: 'Lamp', content: 'The lamp has a warranty of eleven years.' }
  const { id } = (await client.request('POST', `/agents/${agent}/sources`, source)).body
  await trained(service, id)
  models.queue.push({ tokens: ['Eleven', ' years [1]', ', matey.'] })
  const { body } = await say({ message: 'How long is the warranty of the lamp?' }, client, agent)
  const request = models.requests.findLast(({ body: sent }) => sent.messages[0].content.includes('pirate'))!
  const [{ content: system }, { content: asked }] = request.body.messages
  assert.match(system, /Speak like a pirate\.[\s\S]*One sentence\./)
  // Text written by others stays outside the system message.
  assert.doesNotMatch(system, /eleven years/)
  assert.match(asked, /\n<(data-\w+)>\n[\s\S]*eleven years[\s\S]*\n<\/\1>\n\nHow long is the warranty/)
  assert.doesNotMatch(system, /With a greeting/)
  assert.equal(request.body.temperature, 0.4)
  assert.equal(request.headers.authorization, 'Bearer sk-test')
  assert.deepEqual(
    body.data.metadata.sources.map((cited: { id: string; name: string }) => [cited.id, cited.name]),
    [[id, 'Lamp']],
  )
  assert.ok(body.data.metadata.score > 0.5)
  const { conversationId } = body.data.metadata
  const stored = (await client.request('GET', `/agents/${agent}/conversations/${conversationId}`)).body.data
  assert.equal(stored.messages[1].metadata.score, body.data.metadata.score)
})

test('the score is null where nothing was scored, and 0 where something was and nothing fits', async () => {
  const agent = (await client.request('POST', '/agents', { name: 'Scores' })).body.id
  const scores = async (message: string) => {
    models.queue.push({ tokens: ['Who knows.'] })
    const { metadata } = (await say({ message }, client, agent)).body.data
    const path = `/agents/${agent}/conversations/${metadata.conversationId}`
    return [metadata.score, (await client.request('GET', path)).body.data.messages[1].metadata.score]
  }
  assert.deepEqual(await scores('How long is the warranty?'), [null, null])
  const source = { type: 'text', name: 'Lamp', content: 'The lamp has a warranty of eleven years.' }
  const { id } = (await client.request('POST', `/agents/${agent}/sources`, source)).body
  await trained(service, id)
  assert.deepEqual(await scores('?!'), [null, null])
  assert.deepEqual(await scores('Xylophone'), [0, 0])
  const [score] = await scores('How long is the warranty of the lamp?')
  assert.ok(score > 0 && score <= 1)
  assert.equal((await client.request('DELETE', `/agents/${agent}/sources/${id}`)).status, 200)
  assert.deepEqual(await scores('How long is the warranty of the lamp?'), [null, null])
})

test('what is not found while documents are being indexed is neither an answer nor a miss', async () => {
  const agent = (await client.request('POST', '/agents', { name: 'Indexing', model: 'builtin' })).body.id
  const source = { type: 'text', name: 'Lamp', content: 'The lamp has a warranty of eleven years.' }
  const { id } = (await client.request('POST', `/agents/${agent}/sources`, source)).body
  await trained(service, id)
  const { db } = service.ctx
  await db.updateTable('sources').set({ words_version: null }).where('id', '=', id).execute()
  const ask = async () => {
    const { data } = (await say({ message: 'Who has painted the Mona Lisa?' }, client, agent)).body
    const stored = await db
      .selectFrom('messages')
      .select('metadata')
      .where('id', '=', data.id)
      .executeTakeFirstOrThrow()
    const { outcome, isIndexing } = stored.metadata as { outcome: string | null; isIndexing?: true }
    return [data.parts[0].text, outcome, isIndexing]
  }
  assert.deepEqual(await ask(), [CUSTOMER_SENTENCES.en.stillIndexing, null, true])
  await client.request('PUT', `/agents/${agent}`, { model: 'auto' })
  models.queue.push({ tokens: ['Who knows.'] })
  assert.deepEqual(await ask(), ['Who knows.', null, true])
})

test('a conversation of another account or agent in the body does not exist', async () => {
  const { conversationId } = (await say({ message: 'Hello' })).body.data.metadata
  const stranger = await service.account()
  const theirs = (await stranger.request('POST', '/agents', { name: 'A' })).body.id
  const mine = (await client.request('POST', '/agents', { name: 'B' })).body.id
  const unknown = '01890000-0000-7000-8000-000000000000'
  const answers = [
    await say({ message: 'x', conversationId }, stranger, theirs),
    await say({ message: 'x', conversationId }, client, mine),
    await say({ message: 'x', conversationId: unknown }),
    await say({ message: 'x', conversationId: 'no-uuid' }),
    await say({ conversationId }, stranger, theirs),
  ]
  for (const { status, body } of answers) {
    assert.equal(status, 404)
    assert.deepEqual(body.error, { code: 'RESOURCE_NOT_FOUND', message: 'The conversation does not exist.' })
  }
})

test('an agent deleted during its answer takes everything with it except the balance', async () => {
  const owner = await service.account()
  const agent = (await owner.request('POST', '/agents', { name: 'A' })).body.id
  // The reply is slow enough to outlast the deletion on any machine, and the deletion ends it.
  models.queue.push({ tokens: tokens(3_000), delayMs: 15 })
  const running = chat({ message: 'Hello' }, owner, agent)
  await (await running).body!.getReader().read()
  assert.equal((await owner.request('DELETE', `/agents/${agent}`)).status, 200)
  await service.ctx.generations.idle()
  assert.equal((await owner.request('GET', '/me')).body.credits.used, 0)
  const entries = await service.ctx.db
    .selectFrom('credit_entries')
    .select('state')
    .where('agent_id', '=', agent)
    .execute()
  assert.deepEqual(entries, [{ state: 'released' }])
})

test('nothing is lost when the client disconnects', async () => {
  models.queue.push({ tokens: tokens(30), delayMs: 10 })
  const controller = new AbortController()
  const response = await client.raw('POST', `/agents/${agentId}/chat`, {
    body: JSON.stringify({ message: 'Take your time' }),
    headers: { 'content-type': 'application/json' },
    signal: controller.signal,
  })
  const reader = response.body!.getReader()
  await reader.read()
  controller.abort()
  await reader.closed.catch(() => {})
  await service.ctx.generations.idle()
  const { body } = await client.request('GET', `/agents/${agentId}/conversations?limit=1`)
  const conversation = (await client.request('GET', `/agents/${agentId}/conversations/${body.data[0].id}`))
    .body.data
  assert.equal(conversation.messages[0].parts[0].text, 'Take your time')
  assert.equal(conversation.messages[1].parts[0].text, tokens(30).join(''))
})

test('a provider that fails before its first word results in 502, costs nothing, and keeps the message', async () => {
  const owner = await service.account()
  const agent = (await owner.request('POST', '/agents', { name: 'A' })).body.id
  for (const status of [400, 401]) {
    models.queue.push({ status })
    const answer = await say({ message: 'Hello' }, owner, agent)
    assert.deepEqual([answer.status, answer.body.error.code], [502, 'CHAT_PROVIDER_ERROR'])
    assert.equal(answer.body.error.details.provider, 'openai-compatible')
    assert.doesNotMatch(JSON.stringify(answer.body), /secret|sk-/)
  }
  assert.equal((await owner.request('GET', '/me')).body.credits.used, 0)
  const { body } = await owner.request('GET', `/agents/${agent}/conversations`)
  const messages = await owner.request('GET', `/agents/${agent}/conversations/${body.data[0].id}/messages`)
  assert.deepEqual(
    messages.body.data.map(({ role }: { role: string }) => role),
    ['user'],
  )
  const again = await say({ message: 'And now?', conversationId: body.data[0].id }, owner, agent)
  assert.equal(again.status, 200)
})

test('a provider that fails midway results in error and finish, the text is kept, and it is not asked for a title', async () => {
  const before = models.requests.length
  for (const fault of [{ dropAfter: 3, delayMs: 5 }, { garbageAfter: 3 }]) {
    models.queue.push({ tokens: tokens(5), ...fault })
    const { events, text } = await readStream(await chat({ message: 'Fail midway' }))
    const types = events.map(({ event }) => event)
    assert.deepEqual(types.slice(-3), ['error', 'finish-step', 'finish'], JSON.stringify(fault))
    const finish = events.at(-1)!.data as unknown as {
      finishReason: string
      messageMetadata: { conversationId: string }
    }
    assert.equal(finish.finishReason, 'error')
    const { body } = await client.request(
      'GET',
      `/agents/${agentId}/conversations/${finish.messageMetadata.conversationId}`,
    )
    assert.equal(body.data.messages[1].parts[0].text, text)
    assert.ok(text !== '' && tokens(5).join('').startsWith(text), text)
  }
  const titles = () =>
    models.requests
      .slice(before)
      .map(({ body }) => JSON.stringify(body))
      .filter((body) => body.includes('Write a title'))
  await say({ message: 'Succeed' })
  await until('a title', () => titles().some((body) => body.includes('Succeed')))
  assert.equal(titles().filter((body) => body.includes('Fail midway')).length, 0)
})

test('a transient failure is retried, only before the first word', async () => {
  const before = models.requests.length
  models.queue.push({ status: 500 }, { tokens: ['Second', ' try'] })
  const answer = await say({ message: 'Hello again' })
  assert.equal(answer.body.data.parts[0].text, 'Second try')
  const asked = models.requests
    .slice(before)
    .filter(({ body }) => !JSON.stringify(body).includes('Write a title'))
  assert.equal(asked.length, 2)
})

test('an unknown finish reason becomes other', async () => {
  models.queue.push({ tokens: ['x'], finishReason: 'because' })
  assert.equal((await say({ message: 'Hello' })).body.data.metadata.finishReason, 'other')
})

test('a conversation generates one reply at a time', async () => {
  const { conversationId } = (await say({ message: 'Hello' })).body.data.metadata
  models.queue.push({ tokens: tokens(20), delayMs: 20 })
  const running = chat({ message: 'Slow one', conversationId })
  await (await running).body!.getReader().read()
  const answers = await Promise.all([1, 2, 3].map(() => say({ message: 'Me too', conversationId })))
  for (const { status, body } of answers)
    assert.deepEqual([status, body.error.code], [409, 'CHAT_CONVERSATION_BUSY'])
  await service.ctx.generations.idle()
  assert.equal((await say({ message: 'Now?', conversationId })).status, 200)
})

test('a request with nothing to continue is rejected with the reason', async () => {
  const { conversationId } = (await say({ message: 'Hello' })).body.data.metadata
  const nothing = await say({ conversationId })
  assert.deepEqual([nothing.status, nothing.body.error.code], [409, 'CHAT_NOTHING_TO_CONTINUE'])
  const empty = await say({})
  assert.deepEqual([empty.status, Object.keys(empty.body.error.details)], [400, ['message']])
  for (const status of ['ended', 'paused', 'taken_over'] as const) {
    await service.ctx.db
      .updateTable('conversations')
      .set({ status })
      .where('id', '=', conversationId)
      .execute()
    const answer = await say({ message: 'Hello', conversationId })
    assert.deepEqual([answer.status, answer.body.error.code], [409, 'CHAT_CONVERSATION_NOT_ONGOING'])
    assert.equal(answer.body.error.details.status, status)
  }
  const wrong = await say({ message: '', userId: 'a b', conversationId: 5 })
  assert.deepEqual(Object.keys(wrong.body.error.details).sort(), ['conversationId', 'message', 'userId'])
})

test('credits end exactly at the limits of the plan and the agent, also under concurrency', async () => {
  const owner = await service.account()
  const agent = (await owner.request('POST', '/agents', { name: 'A' })).body.id
  await owner.request('PUT', `/agents/${agent}`, { creditLimit: 5 })
  const answers = await Promise.all(Array.from({ length: 12 }, () => say({ message: 'Hi' }, owner, agent)))
  const refused = answers.filter(({ status }) => status === 402)
  assert.equal(answers.length - refused.length, 5)
  for (const { body } of refused) assert.equal(body.error.code, 'CHAT_AGENT_CREDITS_EXHAUSTED')
  assert.equal((await owner.request('GET', `/agents/${agent}`)).body.creditsUsed, 5)
  assert.equal((await owner.request('GET', `/agents/${agent}/conversations`)).body.pagination.total, 5)

  const poor = await service.account({ plan: 'standard' })
  const second = (await poor.request('POST', '/agents', { name: 'A' })).body.id
  await service.ctx.db
    .insertInto('credit_usage')
    .values({
      account_id: poor.accountId,
      owner_id: poor.accountId,
      month: new Date().toISOString().slice(0, 7),
      used: 9_999,
    })
    .execute()
  const last = await Promise.all([1, 2, 3].map(() => say({ message: 'Hi' }, poor, second)))
  assert.deepEqual(last.map(({ status }) => status).sort(), [200, 402, 402])
  assert.equal(last.find(({ status }) => status === 402)?.body.error.code, 'CHAT_CREDITS_EXHAUSTED')
})

test('conversations that begin and answers that end at the same time are each stored, and the answer of one that has ended meanwhile is dropped', async () => {
  const owner = await service.account()
  const agent = (await owner.request('POST', '/agents', { name: 'A' })).body.id
  const users = Array.from({ length: 40 }, (_, i) => `user-${i}`)
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  for (const _ of users)
    models.queue.push({ tokens: ['From ', 'nine.'], beforeToken: async (index) => index === 1 && released })
  const answers = users.map((userId) => say({ message: `I am ${userId}.`, userId }, owner, agent))
  const conversations = () =>
    service.ctx.db.selectFrom('conversations').select(['id', 'user_id']).where('agent_id', '=', agent)
  await until('all of them run', async () => (await conversations().execute()).length === users.length)
  await service.ctx.db
    .updateTable('conversations')
    .set({ status: 'ended' })
    .where('agent_id', '=', agent)
    .where('user_id', '=', 'user-7')
    .execute()
  release()
  const results = new Map((await Promise.all(answers)).map(({ status }, i) => [users[i], status]))
  const stored = await service.ctx.db
    .selectFrom('messages')
    .innerJoin('conversations', 'conversations.id', 'messages.conversation_id')
    .select(['user_id', 'role', 'parts', 'seq'])
    .where('messages.agent_id', '=', agent)
    .orderBy('seq')
    .execute()
  for (const userId of users) {
    const said = stored.filter(({ user_id }) => user_id === userId)
    const texts = said.map(({ role, parts }) => [
      role,
      parts.map((part) => 'text' in part && part.text).join(''),
    ])
    const isOver = userId === 'user-7'
    assert.equal(results.get(userId), isOver ? 409 : 200)
    assert.deepEqual(texts, [['user', `I am ${userId}.`], ...(isOver ? [] : [['assistant', 'From nine.']])])
  }
  assert.equal((await owner.request('GET', `/agents/${agent}`)).body.creditsUsed, users.length)
})

test('a conversation that is locked holds back only its own answer', {
  skip: !onPostgres() && 'needs PostgreSQL',
}, async () => {
  const owner = await service.account()
  const agent = (await owner.request('POST', '/agents', { name: 'A' })).body.id
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const users = Array.from({ length: 12 }, (_, i) => `user-${i}`)
  for (const _ of users)
    models.queue.push({ tokens: ['From ', 'nine.'], beforeToken: async (index) => index === 1 && released })
  const done = new Set<string>()
  const answers = users.map(async (userId) => {
    const answer = await say({ message: 'When?', userId }, owner, agent)
    done.add(userId)
    return answer.status
  })
  const conversations = () =>
    service.ctx.db.selectFrom('conversations').select('id').where('agent_id', '=', agent)
  await until('all of them run', async () => (await conversations().execute()).length === users.length)
  await service.ctx.db.transaction().execute(async (trx) => {
    await trx
      .selectFrom('conversations')
      .select('id')
      .where('agent_id', '=', agent)
      .where('user_id', '=', 'user-3')
      .forUpdate()
      .execute()
    release()
    await until('the others are answered', () => done.size === users.length - 1)
    assert.equal(done.has('user-3'), false)
  })
  assert.deepEqual(
    await Promise.all(answers),
    users.map(() => 200),
  )
})

test('the ledger balances after all of this', async () => {
  await service.ctx.generations.idle()
  assert.deepEqual(await reconcileByHand(service.ctx.db), { ledger: 'equal', reserved: 0 })
})

test('the model writes a title if there is a model', async () => {
  models.otherwise(({ body }) =>
    JSON.stringify(body).includes('Write a title')
      ? { tokens: ['"Opening', ' hours"'] }
      : { tokens: ['From nine.'] },
  )
  const { conversationId } = (await say({ message: 'When do you open on the weekend, please?' })).body.data
    .metadata
  const title = async () =>
    (await client.request('GET', `/agents/${agentId}/conversations/${conversationId}`)).body.data.title
  // The reply does not wait for its title.
  while ((await title()) !== 'Opening hours') await new Promise((resolve) => setTimeout(resolve, 20))
})

test('titles that a model never returns do not delay others', async () => {
  const others = await service.account()
  const agent = (await others.request('POST', '/agents', { name: 'A' })).body.id
  const isTitle = (body: unknown) => JSON.stringify(body).includes('Write a title')
  models.otherwise(({ body }) => {
    if (!isTitle(body)) return { tokens: ['From nine.'] }
    return JSON.stringify(body).includes('stuck') ? { after: NEVER } : { tokens: ['Hours'] }
  })
  const stuck = () =>
    models.requests.filter(({ body }) => isTitle(body) && JSON.stringify(body).includes('stuck'))
  // This is more than the process generates at once.
  for (let i = 0; i < 7; i++)
    await Promise.all(Array.from({ length: 10 }, () => say({ message: 'It is stuck.' }, others, agent)))
  await until('as many titles as one account may wait for', () => stuck().length >= 32)
  const { conversationId } = (await say({ message: 'When do you open?' })).body.data.metadata
  const path = `/agents/${agentId}/conversations/${conversationId}`
  await until('a title', async () => (await client.request('GET', path)).body.data.title === 'Hours')
})

test('a turn sends at most sixteen statements to the database', async () => {
  models.otherwise(() => ({ tokens: ['Yes.'] }))
  const { query } = pg.Client.prototype
  let sent = 0
  pg.Client.prototype.query = function (this: pg.Client, ...values: unknown[]) {
    sent++
    return (query as (...values: unknown[]) => unknown).apply(this, values)
  } as typeof query
  /** The fewest of several turns, because timers send something from time to time. */
  const fewest = async (turn: () => Promise<Answer>): Promise<number> => {
    const counts: number[] = []
    for (let i = 0; i < 5; i++) {
      const before = sent
      assert.equal((await turn()).status, 200)
      // The title of a conversation is stored afterwards.
      await wait(50)
      counts.push(sent - before)
    }
    return Math.min(...counts)
  }
  try {
    const first = await say({ message: 'Hello?' })
    const { conversationId } = first.body.data.metadata
    const counts = {
      opening: await fewest(() => say({ message: 'Hello?' })),
      next: await fewest(() => say({ message: 'And now?', conversationId })),
      keyed: await fewest(() =>
        client.request(
          'POST',
          `/agents/${agentId}/chat`,
          { message: 'And now?', conversationId, stream: false },
          { 'idempotency-key': newId() },
        ),
      ),
    }
    for (const [turn, count] of Object.entries(counts))
      assert.ok(count > 1 && count <= 16, `${turn}: ${count}`)
  } finally {
    pg.Client.prototype.query = query
  }
})
