import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { type ModelServer, startModelServer } from '../../../../test/fakes/model-server.ts'
import { type Client, type Service, startService } from '../../../../test/start.ts'
import { until } from '../../../../test/until.ts'
import { newId } from '../../../platform/db/ids.ts'

let models: ModelServer
let service: Service
let client: Client
let agentId: string

before(async () => {
  models = await startModelServer()
  service = await startService(models.settings)
  client = await service.account()
  agentId = (await client.request('POST', '/agents', { name: 'Agent' })).body.id
  const action = { name: 'show_order', type: 'client', description: 'x', inputs: { type: 'object' } }
  await client.request('POST', `/agents/${agentId}/actions`, action)
})
after(async () => {
  await service.close()
  await models.close()
})

async function say(message: object) {
  const { status, body } = await client.request('POST', `/agents/${agentId}/chat`, {
    stream: false,
    ...message,
  })
  assert.equal(status, 200, JSON.stringify(body))
  return body.data
}
const ofConversation = (id: string, rest = '') => `/agents/${agentId}/conversations/${id}${rest}`

async function find(query: Record<string, string>): Promise<string[]> {
  await service.ctx.indexer.run(service.ctx.db)
  return hits(query)
}

async function hits(query: Record<string, string>): Promise<string[]> {
  const path = `/agents/${agentId}/conversations/search?${new URLSearchParams(query)}`
  const { body } = await client.request('GET', path)
  return body.data.map(({ id }: { id: string }) => id)
}

test('a retried message is no longer found, even before the index is updated', async () => {
  models.queue.push({ tokens: ['The answer is walrus.'] })
  const said = await say({ message: 'Tell me of the sea' })
  const { conversationId } = said.metadata
  assert.deepEqual(await find({ query: 'walrus sea' }), [conversationId])
  models.queue.push({ tokens: ['The answer is narwhal.'] })
  const body = { messageId: said.id, stream: false }
  assert.equal((await client.request('POST', ofConversation(conversationId, '/retry'), body)).status, 200)
  assert.deepEqual(await hits({ query: 'walrus' }), [])
  assert.deepEqual(await find({ query: 'walrus' }), [])
  assert.deepEqual(await find({ query: 'narwhal' }), [conversationId])
  const { pagination } = (await client.request('GET', ofConversation(conversationId, '/messages'))).body
  assert.equal(pagination.total, 2)
})

test('an answer that continues after an action is found by both parts, and by the action', async () => {
  models.queue.push({ tokens: ['Just a jiffy. '], toolCalls: [{ id: 'c', name: 'show_order', input: {} }] })
  const said = await say({ message: 'Where is it?' })
  const { conversationId } = said.metadata
  const [{ toolCallId }] = said.parts.filter(({ type }: { type: string }) => type === 'tool-call')
  assert.deepEqual(await find({ tool: 'show_order', toolOutcome: 'pending' }), [conversationId])
  const result = { toolCallId, output: { status: 'error', error: 'lost' } }
  await client.request('POST', ofConversation(conversationId, '/tool-result'), result)
  models.queue.push({ tokens: ['It went to Timbuktu.'] })
  await say({ conversationId })
  assert.deepEqual(await find({ query: '"went to Timbuktu"' }), [conversationId])
  assert.deepEqual(await find({ query: 'jiffy timbuktu', toolOutcome: 'error' }), [conversationId])
  assert.deepEqual(await find({ tool: 'show_order', toolOutcome: 'pending' }), [])
  const path = ofConversation('export', `?conversationId=${conversationId}`)
  const { body } = await client.request('GET', path)
  const parts = body.data[0].messages[1].parts
  assert.deepEqual(
    parts.filter(({ type }: { type: string }) => type !== 'text'),
    [
      { type: 'tool-call', toolCallId, toolName: 'show_order' },
      { type: 'tool-result', toolCallId, toolName: 'show_order', output: { status: 'error', error: 'lost' } },
    ],
  )
})

test('a takeover, a rating, a pause and a new title are found', async () => {
  models.queue.push({ tokens: ['Hi there.'] })
  const said = await say({ message: 'A question', userId: 'ada' })
  const { conversationId } = said.metadata
  const feedback = ofConversation(conversationId, `/messages/${said.id}/feedback`)
  await client.request('PATCH', feedback, { feedback: 'negative' })
  await client.request('PATCH', ofConversation(conversationId), { paused: true })
  const mine = { userId: 'ada' }
  assert.deepEqual(await find({ ...mine, feedback: 'negative', activityState: 'paused' }), [conversationId])
  assert.deepEqual(await find({ ...mine, escalated: 'true' }), [])
  const memberId = newId()
  const member = { id: memberId, account_id: client.accountId, email: 'm@example.com', name: 'M' }
  await service.ctx.db.insertInto('members').values(member).execute()
  await client.request('POST', ofConversation(conversationId, '/takeover'), { memberId })
  assert.deepEqual(await find({ ...mine, escalated: 'true' }), [conversationId])
  // The ticket moves to a later conversation, and this one is handed back, but it still counts as escalated.
  await sql`update tickets set conversation_id = null where conversation_id = ${conversationId}`.execute(
    service.ctx.db,
  )
  await sql`update conversations set status = 'ongoing' where id = ${conversationId}`.execute(service.ctx.db)
  assert.deepEqual(await find({ ...mine, escalated: 'true', activityState: 'ongoing' }), [conversationId])
  await sql`update conversations set title = 'Zeppelin' where id = ${conversationId}`.execute(service.ctx.db)
  assert.deepEqual(await find({ query: 'zeppel' }), [conversationId])
})

test('a conversation of thousands of words is found by any of them, and by its phrases', async () => {
  const id = newId()
  const { db } = service.ctx
  const own = { account_id: client.accountId, agent_id: agentId }
  await db
    .insertInto('conversations')
    .values({ id, ...own, source: 'API', status: 'ongoing', last_seq: 0 })
    .execute()
  const add = (from: number, until: number) =>
    sql`with added as (
      insert into messages (id, account_id, agent_id, conversation_id, seq, role, parts)
      select gen_random_uuid(), ${client.accountId}, ${agentId}, ${id}, i, 'user', jsonb_build_array(jsonb_build_object(
        'type', 'text', 'text', 'again and ' || repeat('again ', 60) || 'early' || i || ' bird'))
      from generate_series(${from}::integer, ${until}::integer) as i)
      update conversations set last_seq = ${until} where id = ${id}`.execute(db)
  await add(1, 300)
  assert.deepEqual(await find({ query: 'early7 early299' }), [id])
  assert.deepEqual(await find({ query: '"early7 bird"' }), [id])
  assert.deepEqual(await find({ query: '"bird early7"' }), [])
  await add(301, 310)
  assert.deepEqual(await find({ query: 'early7 early305' }), [id])
  assert.deepEqual(await find({ query: '"early305 bird again"' }), [])
  await db.deleteFrom('messages').where('conversation_id', '=', id).where('seq', '=', 7).execute()
  assert.deepEqual(await find({ query: '"early7"' }), [])
  assert.deepEqual(await find({ query: 'early8 early310' }), [id])
  const { rows } = await sql<{ n: number }>`select count(*) as n from search_queue`.execute(db)
  assert.equal(rows[0]?.n, 0)
})

test('totals are right while conversations are created and deleted concurrently', async () => {
  const agent = (await client.request('POST', '/agents', { name: 'Busy' })).body.id
  const { db, indexer } = service.ctx
  const add = async () => {
    const id = newId()
    const own = { id, account_id: client.accountId, agent_id: agent, user_id: 'eve', source: 'API' }
    await db
      .insertInto('conversations')
      .values({ ...own, status: 'ongoing' })
      .execute()
    return id
  }
  const ids = await Promise.all(Array.from({ length: 40 }, add))
  await Promise.all([
    ...ids.slice(0, 15).map((id) => db.deleteFrom('conversations').where('id', '=', id).execute()),
    ...Array.from({ length: 10 }, add),
    indexer.run(db),
    indexer.run(db),
  ])
  const totals = async () =>
    Promise.all(
      ['conversations', 'users/eve/conversations', 'conversations/export'].map(
        async (list) =>
          (await client.request('GET', `/agents/${agent}/${list}?limit=1`)).body.pagination.total,
      ),
    )
  assert.deepEqual(await totals(), [35, 35, 35])
  // The service's own indexer may be working on the same rows, and this call then leaves them to it.
  const left = await until('the counts in one row each', async () => {
    await indexer.run(db)
    const counts = await db
      .selectFrom('conversation_counts')
      .selectAll()
      .where('agent_id', '=', agent)
      .execute()
    return counts.every(({ is_folded }) => is_folded) && counts
  })
  assert.deepEqual(await totals(), [35, 35, 35])
  assert.deepEqual(
    left.map(({ n, is_folded }) => [n, is_folded]),
    [
      [35, true],
      [35, true],
    ],
  )
  await sql`update conversations set user_id = null where agent_id = ${agent}`.execute(db)
  assert.deepEqual(await totals(), [35, 0, 35])
  await client.request('DELETE', `/agents/${agent}`)
  await until('the end of its counts', async () => {
    const left = await db.selectFrom('agent_ids').select('id').where('id', '=', agent).execute()
    return left.length === 0
  })
  await indexer.run(db)
  const gone = await db.selectFrom('conversation_counts').selectAll().where('agent_id', '=', agent).execute()
  assert.deepEqual(gone, [])
  assert.equal((await sql`select from search_queue`.execute(db)).rows.length, 0)
})

test('each invalid parameter is rejected with a sentence, and so is a cursor of another search', async () => {
  const ask = (query: string) =>
    client.request('GET', `/agents/${agentId}/conversations/search?${query}&limit=1`)
  const day = new Date().toISOString().slice(0, 7)
  const first = `${Number(day.slice(0, 4)) - 1}${day.slice(4)}-01`
  const dayBefore = new Date(Date.parse(first) - 86_400_000).toISOString().slice(0, 10)
  const { status, body } = await ask(
    `sentiment=happy&activityState=,&toolOutcome=success,bad&startDate=${dayBefore}&updatedBefore=nonsense`,
  )
  assert.equal(status, 400)
  assert.deepEqual(Object.keys(body.error.details).sort(), [
    'activityState',
    'sentiment',
    'startDate',
    'toolOutcome',
    'updatedBefore',
  ])
  assert.match(body.error.details.startDate, new RegExp(first))
  assert.equal((await ask(`startDate=${first}`)).status, 200)
  for (const query of ['escalated=false', 'hasVoice=1', `query=${'x'.repeat(513)}`, 'limit=26', 'cursor=x'])
    assert.equal(
      (await client.request('GET', `/agents/${agentId}/conversations/search?${query}`)).status,
      400,
    )
  const reversed = await ask('updatedAfter=2099-01-02&updatedBefore=2099-01-01')
  assert.equal(reversed.body.error.code, 'VALIDATION_INVALID_DATE_RANGE')
  for (const query of ['source=API', 'query=bird%20answer%20the&source=API', 'query=h']) {
    const { cursor } = (await ask(query)).body.pagination
    if (cursor)
      assert.equal((await ask(`${query}0&cursor=${cursor}`)).body.error.code, 'VALIDATION_INVALID_CURSOR')
  }
})
