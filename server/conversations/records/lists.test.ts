import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { type Client, clientOf, type Service, startService } from '../../../test/start.ts'
import { createKey } from '../../accounts/keys/keys.ts'
import { newId } from '../../platform/db/ids.ts'
import { json } from '../../platform/db/statements/json.ts'

let service: Service
let client: Client
let agentId: string

before(async () => {
  service = await startService()
  client = await service.account()
  agentId = (await client.request('POST', '/agents', { name: 'Agent' })).body.id
})
after(() => service.close())

async function insert(
  values: { created_at?: Date; updated_at?: Date; user_id?: string; source?: string; last_seq?: number }[],
  agent = agentId,
): Promise<string[]> {
  const rows = values.map((value) => ({
    id: newId(),
    account_id: client.accountId,
    agent_id: agent,
    source: 'API',
    status: 'ongoing' as const,
    ...value,
  }))
  await service.ctx.db.insertInto('conversations').values(rows).execute()
  return rows.map(({ id }) => id)
}

test('paging returns 1,000 rows with equal times once each, whatever the page sizes', async () => {
  const agent = (await client.request('POST', '/agents', { name: 'Many' })).body.id
  const time = new Date('2026-03-03T03:03:03.003Z')
  const made = new Set(
    await insert(
      Array.from({ length: 1_000 }, () => ({ created_at: time, updated_at: time, user_id: 'u' })),
      agent,
    ),
  )
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 7, max: 100 }), { minLength: 1, maxLength: 6 }),
      fc.constantFrom(`/agents/${agent}/conversations`, `/agents/${agent}/users/u/conversations`),
      async (limits, path) => {
        // The walk has a key of its own, because it makes more requests than one key may make in ten seconds.
        let walker = client
        const seen: string[] = []
        let cursor = ''
        for (let page = 0; ; page++) {
          if (page % 90 === 0)
            walker = clientOf(
              service.url,
              (await createKey(service.ctx.db, client.accountId, { name: 'walk' })).key,
            )
          const limit = limits[page % limits.length]
          const { body } = await walker.request(
            'GET',
            `${path}?limit=${limit}${cursor && `&cursor=${cursor}`}`,
          )
          seen.push(...body.data.map(({ id }: { id: string }) => id))
          assert.equal(body.pagination.total, 1_000)
          if (!body.pagination.hasMore) break
          cursor = body.pagination.cursor
        }
        assert.equal(seen.length, 1_000)
        assert.deepEqual(new Set(seen), made)
      },
    ),
    { numRuns: 8 },
  )
})

test('dates are UTC days, including the end, or times', async () => {
  const agent = (await client.request('POST', '/agents', { name: 'Dates' })).body.id
  const times = [
    '2026-04-30T23:59:59.999Z',
    '2026-05-01T00:00:00.000Z',
    '2026-05-01T23:59:59.999Z',
    '2026-05-02T00:00:00.000Z',
  ]
  const ids = await insert(
    times.map((time) => ({ created_at: new Date(time) })),
    agent,
  )
  const found = async (query: string) => {
    const { body } = await client.request('GET', `/agents/${agent}/conversations?${query}`)
    return body.data?.map(({ id }: { id: string }) => ids.indexOf(id)).sort() ?? body.error.code
  }
  assert.deepEqual(await found('startDate=2026-05-01&endDate=2026-05-01'), [1, 2])
  assert.deepEqual(await found('startDate=2026-05-01'), [1, 2, 3])
  assert.deepEqual(await found('endDate=2026-04-30'), [0])
  assert.deepEqual(await found('endDate=2026-05-01T00:00:00Z'), [0, 1])
  assert.deepEqual(await found('startDate=2026-05-01T02:00:00%2B02:00&endDate=2026-05-01T10:00'), [1])
  assert.deepEqual(await found('startDate=2026-05-02&endDate=2026-05-01'), 'VALIDATION_INVALID_DATE_RANGE')
  for (const bad of ['2026-02-30', 'yesterday', '2026-5-1', '2026-05-01T25:00:00Z', '']) {
    const { status, body } = await client.request('GET', `/agents/${agent}/conversations?startDate=${bad}`)
    assert.deepEqual([status, Object.keys(body.error.details)], [400, ['startDate']], bad)
  }
})

test("a user's conversations are listed most recently active first, and only those of the API", async () => {
  const at = (day: number) => new Date(Date.UTC(2026, 5, day))
  const [old, fresh] = await insert([
    { user_id: 'ada', updated_at: at(1) },
    { user_id: 'ada', updated_at: at(9) },
    { user_id: 'ada', updated_at: at(5), source: 'Widget or Iframe' },
    { user_id: 'bob', updated_at: at(5) },
  ])
  const { body } = await client.request('GET', `/agents/${agentId}/users/ada/conversations`)
  assert.deepEqual(
    body.data.map(({ id }: { id: string }) => id),
    [fresh, old],
  )
  assert.deepEqual(Object.keys(body.data[0]).sort(), [
    'createdAt',
    'id',
    'parentConversationId',
    'parentSummary',
    'status',
    'title',
    'updatedAt',
    'userId',
  ])
  const bad = await client.request('GET', `/agents/${agentId}/users/${'a'.repeat(129)}/conversations`)
  assert.deepEqual([bad.status, Object.keys(bad.body.error.details)], [400, ['userId']])
  assert.equal((await client.request('GET', `/agents/${agentId}/users/a%20b/conversations`)).status, 400)
})

test('messages are paged back from the newest, oldest first within a page, with the cursor of the single read', async () => {
  const [id] = (await insert([{ last_seq: 45 }])) as [string]
  await service.ctx.db
    .insertInto('messages')
    .values(
      Array.from({ length: 45 }, (_, i) => ({
        id: newId(),
        account_id: client.accountId,
        agent_id: agentId,
        conversation_id: id,
        seq: i + 1,
        role: i % 2 ? ('assistant' as const) : ('user' as const),
        parts: json([{ type: 'text', text: String(i + 1) }]),
      })),
    )
    .execute()
  const textsOf = (messages: { parts: { text: string }[] }[]) =>
    messages.map(({ parts }) => Number(parts[0]?.text))
  const read = (await client.request('GET', `/agents/${agentId}/conversations/${id}`)).body
  assert.deepEqual(
    textsOf(read.data.messages),
    Array.from({ length: 20 }, (_, i) => i + 26),
  )
  assert.deepEqual([read.pagination.total, read.pagination.hasMore], [45, true])
  const path = `/agents/${agentId}/conversations/${id}/messages`
  const older = (await client.request('GET', `${path}?limit=24&cursor=${read.pagination.cursor}`)).body
  assert.deepEqual(
    textsOf(older.data),
    Array.from({ length: 24 }, (_, i) => i + 2),
  )
  const oldest = (await client.request('GET', `${path}?limit=1&cursor=${older.pagination.cursor}`)).body
  assert.deepEqual(
    [textsOf(oldest.data), oldest.pagination],
    [[1], { cursor: null, hasMore: false, total: 45 }],
  )
})

test('a conversation of another source is not listed and says where to read it, but can be continued', async () => {
  const [id] = await insert([{ source: 'Widget or Iframe' }])
  for (const path of ['', '/messages']) {
    const { status, body } = await client.request('GET', `/agents/${agentId}/conversations/${id}${path}`)
    assert.deepEqual([status, body.error.code], [404, 'RESOURCE_NOT_FOUND'])
    assert.match(body.error.message, /Widget or Iframe/)
    assert.match(body.error.message, /conversations\/export/)
  }
  const chat = await client.request('POST', `/agents/${agentId}/chat`, {
    message: 'x',
    conversationId: id,
    stream: false,
  })
  assert.equal(chat.status, 200, JSON.stringify(chat.body))
})
