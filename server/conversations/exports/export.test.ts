import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Client, type Service, startService } from '../../../test/start.ts'
import { newId } from '../../platform/db/ids.ts'
import { json } from '../../platform/db/statements/json.ts'
import type { MessagePart } from '../../platform/db/tables/conversations.ts'
import { exportedOutput } from './exported-output.ts'

let service: Service
let client: Client
let agentId: string

before(async () => {
  service = await startService()
  client = await service.account()
  agentId = (await client.request('POST', '/agents', { name: 'Agent' })).body.id
})
after(() => service.close())

async function add(day: number, source: string, parts: MessagePart[][] = []): Promise<string> {
  const id = newId()
  const own = { account_id: client.accountId, agent_id: agentId }
  const created_at = new Date(Date.UTC(2026, 4, day, 12))
  await service.ctx.db
    .insertInto('conversations')
    .values({
      id,
      ...own,
      source,
      status: 'ended',
      created_at,
      updated_at: created_at,
      last_seq: parts.length,
    })
    .execute()
  for (const [i, part] of parts.entries())
    await service.ctx.db
      .insertInto('messages')
      .values({
        id: newId(),
        ...own,
        conversation_id: id,
        seq: i + 1,
        role: i % 2 ? 'assistant' : 'user',
        parts: json(part),
      })
      .execute()
  return id
}

const read = async (query: string) =>
  (await client.request('GET', `/agents/${agentId}/conversations/export?${query}`)).body

test('all sources are exported newest first, page by page, filtered by source and day, with a total', async () => {
  const made = [
    await add(1, 'API'),
    await add(2, 'Email'),
    await add(2, 'Email'),
    await add(3, 'Widget or Iframe'),
    await add(4, 'API'),
  ].reverse()
  const found = async (query: string) => {
    const ids: number[] = []
    for (let cursor = ''; ; ) {
      const { data, pagination } = await read(`limit=2&${query}${cursor}`)
      ids.push(...data.map(({ id }: { id: string }) => made.indexOf(id)))
      assert.ok(data.length <= 2)
      if (!pagination.hasMore) {
        assert.equal(pagination.total, ids.length)
        return ids
      }
      cursor = `&cursor=${pagination.cursor}`
    }
  }
  assert.deepEqual(await found(''), [0, 1, 2, 3, 4])
  assert.deepEqual(await found('source=API'), [0, 4])
  assert.deepEqual(await found('source=Email,Widget%20or%20Iframe'), [1, 2, 3])
  assert.deepEqual(await found('source=Phone'), [])
  assert.deepEqual(await found('startDate=2026-05-02&endDate=2026-05-03'), [1, 2, 3])
  assert.deepEqual(await found('startDate=2026-05-02T12:00:01Z&endDate=2026-05-04T11:00:00Z'), [1])
  const { cursor } = (await read('limit=1')).pagination
  const other = await client.request(
    'GET',
    `/agents/${agentId}/conversations/export?source=API&cursor=${cursor}`,
  )
  assert.equal(other.body.error.code, 'VALIDATION_INVALID_CURSOR')
})

test('one conversation results in a page of one, and an unknown one in an empty page', async () => {
  const call = { toolCallId: 'c1', toolName: 'find_order' }
  const id = await add(5, 'Email', [
    [{ type: 'text', text: 'Where is it?' }],
    [
      { type: 'tool-call', ...call, input: { secret: 1 } },
      { type: 'tool-result', ...call, output: { place: 'Köln' } },
      { type: 'tool-call', ...call, toolCallId: 'c2', input: { secret: 2 } },
    ],
  ])
  const { data, pagination } = await read(`conversationId=${id}&startDate=2030-01-01`)
  assert.deepEqual(pagination, { cursor: null, hasMore: false, total: 1 })
  const [found] = data
  assert.deepEqual([found.source, found.embedOrigin, found.messages.length], ['Email', null, 2])
  assert.deepEqual(found.messages[1].parts, [
    { type: 'tool-call', ...call },
    { type: 'tool-result', ...call, output: { status: 'success', data: { place: 'Köln' } } },
    { type: 'tool-call', ...call, toolCallId: 'c2' },
    { type: 'tool-result', ...call, toolCallId: 'c2', output: { status: 'pending' } },
  ])
  const summary = await read(`conversationId=${id}&include=summary`)
  assert.equal('messages' in summary.data[0], false)
  for (const unknown of [newId(), 'no-id']) {
    assert.deepEqual(await read(`conversationId=${unknown}`), {
      data: [],
      pagination: { cursor: null, hasMore: false, total: 0 },
    })
  }
  const other = await service.account()
  const foreign = (await other.request('POST', '/agents', { name: 'Other' })).body.id
  const stolen = await other.request('GET', `/agents/${foreign}/conversations/export?conversationId=${id}`)
  assert.equal(stolen.body.pagination.total, 0)
})

test('the result of an action has one of four formats', () => {
  const shapes: [unknown, unknown][] = [
    [
      { status: 'success', data: { a: 1 } },
      { status: 'success', data: { a: 1 } },
    ],
    [{ status: 'success', data: null }, { status: 'success' }],
    [
      { status: 'success', order: 1 },
      { status: 'success', data: { status: 'success', order: 1 } },
    ],
    [
      { status: 'error', error: 'No', stack: 'at …' },
      { status: 'error', error: 'No' },
    ],
    [{ status: 'error', error: { code: 1 } }, { status: 'error' }],
    [{ status: 'pending' }, { status: 'pending' }],
    [
      { status: 'pending', eta: 3 },
      { status: 'success', data: { status: 'pending', eta: 3 } },
    ],
    [{ status: 'ignored' }, { status: 'ignored' }],
    [['a'], { status: 'success', data: ['a'] }],
    ['text', { status: 'success', data: 'text' }],
    [0, { status: 'success', data: 0 }],
    [null, { status: 'success' }],
    [undefined, { status: 'success' }],
  ]
  for (const [output, shape] of shapes) assert.deepEqual(exportedOutput(output), shape)
})
