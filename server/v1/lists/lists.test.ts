import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import fc from 'fast-check'
import { type Answer, type Client, type Service, startService } from '../../../test/start.ts'
import { createKey } from '../../accounts/keys/keys.ts'
import { newId } from '../../platform/db/ids.ts'
import { json } from '../../platform/db/statements/json.ts'

let service: Service
let client: Client
let chatbotId: string

before(async () => {
  service = await startService()
})
after(() => service.close())
beforeEach(async () => {
  client = await service.account()
  chatbotId = await newChatbot()
})

const newChatbot = async (): Promise<string> =>
  (await client.request('POST', '/api/v1/create-chatbot', { chatbotName: 'Bot' })).body.chatbotId

type Query = Record<string, string | number>
/** Each test has its own key and thus its own rate limit. */
async function ask(path: string, query: Query = {}): Promise<Answer> {
  const text = new URLSearchParams({ chatbotId, ...query } as Record<string, string>)
  const { key } = await createKey(service.ctx.db, client.accountId, { name: 'reader' })
  return service.anonymous('GET', `${path}?${text}`, undefined, { authorization: `Bearer ${key}` })
}
const conversations = async (query: Query = {}): Promise<{ id: string; messages: unknown[] }[]> => {
  const { status, body } = await ask('/api/v1/get-conversations', query)
  assert.equal(status, 200, JSON.stringify(body))
  return body.data
}
const idsOf = (rows: { id: string }[]): string[] => rows.map(({ id }) => id)

type Made = { at: string; source?: string; messages?: number; external_id?: string; transient?: boolean }
async function makeConversations(made: Made[], agent = chatbotId): Promise<string[]> {
  const owned = { account_id: client.accountId, agent_id: agent }
  const rows = made.map(({ at, source = 'API', external_id, transient = false }) => ({
    ...owned,
    id: newId(),
    source,
    status: 'ongoing' as const,
    external_id,
    transient,
    created_at: new Date(at),
    updated_at: new Date(at),
  }))
  if (rows.length === 0) return []
  await service.ctx.db.insertInto('conversations').values(rows).execute()
  const messages = rows.flatMap(({ id }, index) =>
    Array.from({ length: made[index]?.messages ?? 0 }, (_, seq) => ({
      ...owned,
      id: newId(),
      conversation_id: id,
      seq: seq + 1,
      role: seq % 2 === 0 ? ('user' as const) : ('assistant' as const),
      parts: json([{ type: 'text', text: `message ${seq} of ${index}` }]),
    })),
  )
  if (messages.length > 0) await service.ctx.db.insertInto('messages').values(messages).execute()
  return idsOf(rows)
}

async function makeLeads(times: string[]): Promise<string[]> {
  const owned = { account_id: client.accountId, agent_id: chatbotId, email: 'a@example.com' }
  const rows = times.map((at) => ({ ...owned, id: newId(), created_at: new Date(at) }))
  await service.ctx.db.insertInto('leads').values(rows).execute()
  return idsOf(rows)
}

async function walkVersion2(range: Query): Promise<string[]> {
  const ids: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query = { ...range, limit: 7, ...(cursor ? { cursor } : {}) }
    const { status, body } = await ask(`/api/v2/agents/${chatbotId}/conversations`, query)
    assert.equal(status, 200, JSON.stringify(body))
    ids.push(...idsOf(body.data))
    cursor = body.pagination.cursor
  }
  return ids
}

async function walkVersion1(range: Query, size: number): Promise<string[]> {
  const ids: string[] = []
  for (let page = 1; ; page++) {
    const data = await conversations({ ...range, filteredSources: 'API', page, size })
    assert.ok(data.length <= size)
    ids.push(...idsOf(data))
    if (data.length === 0) return ids
  }
}

const day = fc.integer({ min: 1, max: 9 }).map((n) => `2026-03-0${n}`)
// There are few distinct times, including the boundaries of days, so that many are equal.
const moment = fc
  .tuple(day, fc.constantFrom('00:00:00.000', '12:00:00.000', '23:59:59.999'))
  .map(([date, time]) => `${date}T${time}Z`)
const made = fc.record({
  at: moment,
  source: fc.constantFrom('API', 'API', 'Widget or Iframe', 'Email'),
  messages: fc.integer({ min: 0, max: 4 }),
  transient: fc.constantFrom(false, false, false, true),
})

test('numbered pages match the lists of version 2, in order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(made, { maxLength: 30 }),
      fc.option(day),
      fc.option(day),
      fc.integer({ min: 1, max: 12 }),
      async (rows, a, b, size) => {
        chatbotId = await newChatbot()
        client = { ...client, ...(await freshClient()) }
        await makeConversations(rows)
        const [startDate, endDate] = a && b ? [a, b].sort() : [a, b]
        const range = { ...(startDate ? { startDate } : {}), ...(endDate ? { endDate } : {}) }
        const expected = await walkVersion2(range)
        assert.deepEqual(await walkVersion1(range, size), expected)
        const all = await conversations({ ...range, size: 100 })
        assert.deepEqual(idsOf(all.filter(({ id }) => expected.includes(id))), expected)
      },
    ),
    { numRuns: 12, seed: 20260301 },
  )
})

async function freshClient(): Promise<{ key: string; request: Client['request'] }> {
  const { key } = await createKey(service.ctx.db, client.accountId, { name: 'next' })
  const authorization = `Bearer ${key}`
  return {
    key,
    request: (method, path, body) => service.anonymous(method, path, body, { authorization }),
  }
}

test('messages are complete and in order, whatever they consist of', async () => {
  const [id] = await makeConversations([{ at: '2026-01-01T00:00:00Z', messages: 130 }])
  const toolParts = [
    { type: 'text', text: 'I look. ' },
    { type: 'tool-call', toolCallId: 'x', toolName: 'look', input: {} },
    { type: 'tool-result', toolCallId: 'x', toolName: 'look', output: { status: 'success' } },
    { type: 'text', text: 'Found.' },
  ]
  await service.ctx.db
    .updateTable('messages')
    .set({ parts: json(toolParts) })
    .where('conversation_id', '=', id ?? '')
    .where('seq', '=', 2)
    .execute()
  const [conversation] = (await conversations()) as {
    id: string
    messages: { content: string; role: string; type: string }[]
  }[]
  assert.equal(conversation?.messages.length, 130)
  assert.deepEqual(conversation.messages[0]?.content, 'message 0 of 0')
  const { id: _, ...second } = conversation.messages[1] as unknown as { id: string }
  assert.deepEqual(second, { role: 'assistant', content: 'I look. Found.', type: 'text' })
  assert.equal(conversation.messages[129]?.content, 'message 129 of 0')
})

const EDGES = [
  '2026-03-01T23:59:59.999Z',
  '2026-03-02T00:00:00.000Z',
  '2026-03-02T23:59:59.999Z',
  '2026-03-03T00:00:00.000Z',
]

for (const [what, path, make, read] of [
  [
    'conversations',
    '/api/v1/get-conversations',
    (times: string[]) => makeConversations(times.map((at) => ({ at }))),
    (answer: Answer) => answer.body.data,
  ],
  ['leads', '/api/v1/get-leads', makeLeads, (answer: Answer) => answer.body.collectedCustomers],
] as const) {
  test(`a day of ${what} begins and ends in UTC, to the millisecond`, async () => {
    const [before1, first, last, after1] = await make([...EDGES])
    const found = async (query: Query) => idsOf(read(await ask(path, query)))
    assert.deepEqual(await found({ startDate: '2026-03-02', endDate: '2026-03-02' }), [last, first])
    assert.deepEqual(await found({ startDate: '2026-03-02' }), [after1, last, first])
    assert.deepEqual(await found({ endDate: '2026-03-02' }), [last, first, before1])
    assert.deepEqual(await found({ startDate: '2026-03-04' }), [])
  })

  test(`${what}: 10 per page, 100 at most, and nothing past the end`, async () => {
    await make(Array.from({ length: 101 }, (_, i) => new Date(Date.UTC(2026, 0, 1, 0, i)).toISOString()))
    const count = async (query: Query) => read(await ask(path, query)).length
    assert.equal(await count({}), 10)
    assert.equal(await count({ size: 100 }), 100)
    assert.equal(await count({ size: 100, page: 2 }), 1)
    assert.equal(await count({ size: 100, page: 3 }), 0)
    assert.equal(await count({ page: 11 }), 1)
    assert.equal(await count({ page: 12 }), 0)
    assert.equal(await count({ page: 2_147_483_647, size: 100 }), 0)
  })

  test(`${what}: invalid parameters are rejected`, async () => {
    for (const query of [
      { size: 101 },
      { size: 0 },
      { size: 'ten' },
      { page: 0 },
      { page: -1 },
      { page: 1.5 },
      { page: '99999999999' },
      { startDate: '2026-02-30' },
      { startDate: '2026-3-1' },
      { endDate: 'yesterday' },
      { endDate: '2026-03-02T00:00:00Z' },
      { startDate: '2026-03-03', endDate: '2026-03-02' },
      { chatbotId: '' },
    ] as Query[]) {
      const { status, body } = await ask(path, query)
      assert.deepEqual([status, body], [400, { message: 'Invalid request data' }], JSON.stringify(query))
    }
  })
}

test('sources are selected by name, ignoring case and separated by commas; unknown ones match nothing', async () => {
  const sources = ['API', 'Widget or Iframe', 'Email', 'Messaging']
  await makeConversations(sources.map((source, i) => ({ at: `2026-01-0${i + 1}T00:00:00Z`, source })))
  const found = async (filteredSources: string) =>
    (await conversations({ filteredSources })).map((row) => (row as unknown as { source: string }).source)
  assert.deepEqual(await found('API'), ['api'])
  assert.deepEqual(await found('widget or iframe,EMAIL'), ['email', 'widget or iframe'])
  assert.deepEqual(await found(' Messaging , API '), ['messaging', 'api'])
  assert.deepEqual(await found('Telegraph'), [])
  assert.deepEqual(await found('%'), [])
  assert.equal((await found('')).length, 4)
  assert.equal((await found(',')).length, 4)
})

test('a chosen id is returned, and lists are limited to their chatbot and account', async () => {
  await makeConversations([{ at: '2026-01-01T00:00:00Z', external_id: 'visit 1' }])
  await makeConversations([{ at: '2026-01-01T00:00:00Z' }], await newChatbot())
  assert.deepEqual(idsOf(await conversations()), ['visit 1'])
  const other = await service.account()
  for (const path of ['/get-conversations', '/get-leads']) {
    const { status, body } = await other.request('GET', `/api/v1${path}?chatbotId=${chatbotId}`)
    assert.deepEqual([status, body], [404, { message: 'Resource not found' }])
  }
})
