import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { type Client, type Service, startService } from '../../../../test/start.ts'
import { newId } from '../../../platform/db/ids.ts'
import { json } from '../../../platform/db/statements/json.ts'
import type { ConversationStatus } from '../../../platform/db/tables/conversations.ts'
import type { StatusCategory } from '../../../platform/db/tables/helpdesk.ts'
import { sweepOldConversations, sweepOldLeads } from './retention.ts'

let service: Service
let client: Client
let agentId: string

before(async () => {
  service = await startService()
  client = await service.account()
  agentId = (await client.request('POST', '/agents', { name: 'Agent' })).body.id
})
after(() => service.close())

const DAY = 86_400_000

async function add(days: number, status: ConversationStatus = 'ended', messages = 2): Promise<string> {
  const id = newId()
  const time = new Date(Date.now() - days * DAY)
  const own = { account_id: client.accountId, agent_id: agentId }
  await service.ctx.db
    .insertInto('conversations')
    .values({
      id,
      ...own,
      source: 'API',
      status,
      last_seq: messages,
      created_at: time,
      updated_at: time,
      user_id: 'u',
    })
    .execute()
  await sql`
    insert into messages (id, account_id, agent_id, conversation_id, seq, role, parts)
    select gen_random_uuid(), ${client.accountId}, ${agentId}, ${id}, n, 'user', '[]' from generate_series(1, ${sql.lit(messages)}) as n`.execute(
    service.ctx.db,
  )
  return id
}

async function addTicket(
  conversationId: string,
  number: number,
  status_category: StatusCategory,
): Promise<void> {
  await service.ctx.db
    .insertInto('tickets')
    .values({
      id: newId(),
      account_id: client.accountId,
      agent_id: agentId,
      number,
      status_category,
      customer: json({ id: 'u', name: null, email: null, phoneNumber: null }),
      channel: 'api',
      conversation_id: conversationId,
    })
    .execute()
}

const left = async (): Promise<string[]> =>
  (await service.ctx.db.selectFrom('conversations').select('id').where('agent_id', '=', agentId).execute())
    .map(({ id }) => id)
    .sort()

const path = () => `/agents/${agentId}/retention`

test('the setting is read, written, and copied with the agent', async () => {
  assert.deepEqual((await client.request('GET', path())).body, {
    retentionDays: null,
    promptDays: null,
    redactPaymentNumbers: false,
  })
  for (const retentionDays of [0, 3651, 1.5, '30', undefined]) {
    const answer = await client.request('PUT', path(), { retentionDays })
    assert.ok(answer.body.error.details.retentionDays, String(retentionDays))
  }
  assert.deepEqual((await client.request('PUT', path(), { retentionDays: 30 })).body, { success: true })
  assert.deepEqual((await client.request('GET', path())).body, {
    retentionDays: 30,
    promptDays: null,
    redactPaymentNumbers: false,
  })
  const { body } = await client.request('POST', `/agents/${agentId}/clone`)
  assert.deepEqual((await client.request('GET', `/agents/${body.id}/retention`)).body, {
    retentionDays: 30,
    promptDays: null,
    redactPaymentNumbers: false,
  })
  assert.equal('retentionDays' in (await client.request('GET', `/agents/${agentId}`)).body, false)
})

test('old conversations are deleted with everything that belongs to them; those in which somebody waits stay', async () => {
  const { db } = service.ctx
  await client.request('PUT', path(), { retentionDays: 30 })
  const [old, solved] = [await add(31), await add(400)]
  const [fresh, taken, open, running] = [
    await add(29),
    await add(99, 'taken_over'),
    await add(99),
    await add(99),
  ]
  await addTicket(solved, 1, 'closed')
  await addTicket(open, 2, 'on_customer')
  await sql`
    insert into generations (id, account_id, agent_id, conversation_id, user_message_id, message_id, model, status,
      credits)
    values (${newId()}, ${client.accountId}, ${agentId}, ${running}, ${newId()}, ${newId()}, 'm', 'running', 0)`.execute(
    db,
  )
  await Promise.all([sweepOldConversations(service.ctx), sweepOldConversations(service.ctx)])
  assert.deepEqual(await left(), [fresh, taken, open, running].sort())
  const messages = await db.selectFrom('messages').select('conversation_id').distinct().execute()
  assert.equal(
    messages.some(({ conversation_id }) => [old, solved].includes(conversation_id)),
    false,
  )
  const tickets = await db.selectFrom('tickets').select('number').where('agent_id', '=', agentId).execute()
  assert.deepEqual(
    tickets.map(({ number }) => number),
    [2],
  )
  await client.request('PUT', path(), { retentionDays: null })
  const kept = await add(3_000)
  await sweepOldConversations(service.ctx)
  assert.ok((await left()).includes(kept))
  await sql`delete from conversations where agent_id = ${agentId}`.execute(db)
})

test('a lead without a conversation is deleted at the same age', async () => {
  const { db } = service.ctx
  const ongoing = await add(0, 'ongoing')
  const addLead = (email: string, days: number, conversation_id: string | null = null) =>
    db
      .insertInto('leads')
      .values({
        id: newId(),
        account_id: client.accountId,
        agent_id: agentId,
        conversation_id,
        email,
        created_at: new Date(Date.now() - days * DAY),
      })
      .execute()
  for (let n = 0; n < 3; n++) await addLead('old@example.com', 31)
  await addLead('fresh@example.com', 29)
  await addLead('ongoing@example.com', 99, ongoing)
  const kept = async () => {
    await Promise.all([sweepOldLeads(service.ctx), sweepOldLeads(service.ctx)])
    const { body } = await client.request('GET', `/api/v1/get-leads?chatbotId=${agentId}`)
    return body.collectedCustomers.map(({ email }: { email: string }) => email).sort()
  }
  await client.request('PUT', path(), { retentionDays: null })
  assert.equal((await kept()).length, 5)
  await client.request('PUT', path(), { retentionDays: 30 })
  assert.deepEqual(await kept(), ['fresh@example.com', 'ongoing@example.com'])
  await sql`delete from conversations where agent_id = ${agentId}`.execute(db)
})

test('many and long conversations are deleted in short transactions by several processes at once', async () => {
  await client.request('PUT', path(), { retentionDays: 1 })
  const { db } = service.ctx
  await sql`
    insert into conversations (id, account_id, agent_id, source, status, updated_at)
    select gen_random_uuid(), ${client.accountId}, ${agentId}, 'API', 'ongoing', now() - n * interval '1 minute' - interval '1 day'
    from generate_series(1, 230) as n`.execute(db)
  await add(50, 'ongoing', 4_300)
  await Promise.all([1, 2, 3].map(() => sweepOldConversations(service.ctx)))
  await sweepOldConversations(service.ctx)
  assert.deepEqual(await left(), [])
  const { rows } = await sql<{ n: number }>`select coalesce(sum(n), 0)::int as n from conversation_counts
    where agent_id = ${agentId}`.execute(db)
  assert.deepEqual(rows, [{ n: 0 }])
})
