import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { CompiledQuery, type KyselyPlugin, sql } from 'kysely'
import { freshDatabase } from '../../../test/database.ts'
import { createAccount } from '../../accounts/records/accounts.ts'
import { createAgent } from '../../agents/records/create-agent.ts'
import type { Db } from '../../platform/db/database.ts'
import { newId } from '../../platform/db/ids.ts'
import type { AgentRef } from '../../platform/db/refs.ts'
import { json } from '../../platform/db/statements/json.ts'
import type { ChannelName } from '../../platform/db/tables/channels.ts'
import { claimDelivery, MAX_UNDER_WAY } from './claim-delivery.ts'
import { settleAttempt } from './settle-delivery.ts'

let fresh: Awaited<ReturnType<typeof freshDatabase>>
let db: Db
let slow: AgentRef
let other: AgentRef

before(async () => {
  fresh = await freshDatabase()
  db = fresh.database.db
  ;[slow, other] = await Promise.all([owner('Slow'), owner('Other')])
})
after(async () => {
  await fresh.database.close()
  await fresh.drop()
})
beforeEach(() => db.deleteFrom('deliveries').execute())

async function owner(name: string): Promise<AgentRef> {
  const accountId = await createAccount(db, name)
  const agentId = await createAgent(db, { id: accountId, plan: 'unlimited' }, 'test', { name })
  return { accountId, agentId }
}

type More = {
  channel?: ChannelName
  lane?: string
  ordinal?: number
  dueAgo?: number
  status?: 'queued' | 'sending'
  isTemplate?: boolean
}

async function queue({ accountId, agentId }: AgentRef, more: More = {}): Promise<string> {
  const { channel = 'messaging', lane = newId(), ordinal = 1, dueAgo = 60, status = 'queued' } = more
  const id = newId()
  await db
    .insertInto('deliveries')
    .values({
      id,
      account_id: accountId,
      agent_id: agentId,
      channel,
      lane,
      ordinal,
      thread_id: null,
      conversation_id: null,
      ticket_id: null,
      message_id: null,
      ticket_message_id: null,
      content: json({
        text: 'Hi',
        ...(more.isTemplate ? { template: { name: 'x', language: 'en', isSettled: false } } : {}),
      }),
      status,
      lease_until: status === 'sending' ? sql<Date>`now() + interval '1 minute'` : null,
      next_at: sql<Date>`now() - ${dueAgo} * interval '1 second'`,
      provider_message_id: null,
      error: null,
    })
    .execute()
  return id
}
const claim = async () => (await claimDelivery(db))?.id ?? null

test("an account has two attempts in progress, however many are due; the next attempt is another account's", async () => {
  const own: string[] = []
  for (let i = 0; i < 10; i++) own.push(await queue(slow, { dueAgo: 100 - i }))
  const others = [await queue(other, { dueAgo: 2 }), await queue(other, { dueAgo: 1 })]
  const claimed = [await claim(), await claim(), await claim(), await claim(), await claim()]
  assert.deepEqual(claimed, [...own.slice(0, MAX_UNDER_WAY), ...others, null])
  // A delivery that has ended frees its place for another one.
  const ended = await db
    .selectFrom('deliveries')
    .selectAll()
    .where('id', '=', own[0] ?? '')
    .executeTakeFirstOrThrow()
  await db
    .transaction()
    .execute((trx) => settleAttempt(trx, ended, { kind: 'sent', providerMessageId: null }))
  assert.deepEqual([await claim(), await claim()], [own[2], null])
})

test('each channel is limited separately, and templates of requests and dead processes do not count', async () => {
  for (let i = 0; i < MAX_UNDER_WAY; i++) await queue(slow, { channel: 'email', status: 'sending' })
  for (let i = 0; i < 5; i++) await queue(slow, { status: 'sending', isTemplate: true })
  const mail = await queue(slow, { channel: 'email' })
  const message = await queue(slow)
  assert.deepEqual([await claim(), await claim()], [message, null])
  await db
    .updateTable('deliveries')
    .set({
      lease_until: sql<Date>`now() - interval '1 second'`,
      next_at: sql<Date>`now() - interval '1 second'`,
    })
    .where('channel', '=', 'email')
    .where('status', '=', 'sending')
    .execute()
  assert.equal(await claim(), mail)
})

test('a delivery is due although the clock of the database was set back while it waited', async () => {
  const id = await queue(slow, { dueAgo: -3_600 })
  await queue(other, { dueAgo: -60 })
  assert.deepEqual([await claim(), await claim()], [id, null])
})

test('a lane keeps its order while its account waits for room', async () => {
  const lane = newId()
  const first = await queue(slow, { lane, ordinal: 1, dueAgo: 1 })
  const second = await queue(slow, { lane, ordinal: 2, dueAgo: 50 })
  const busy = [await queue(slow, { status: 'sending' }), await queue(slow, { status: 'sending' })]
  assert.equal(await claim(), null)
  await db.deleteFrom('deliveries').where('id', 'in', busy).execute()
  assert.deepEqual([await claim(), await claim()], [first, null])
  await db.updateTable('deliveries').set({ status: 'sent' }).where('id', '=', first).execute()
  assert.equal(await claim(), second)
})

test('deliveries in progress, due ones and those before them are found by indexes', async () => {
  const { accountId, agentId } = other
  await sql`insert into deliveries (id, account_id, agent_id, channel, lane, ordinal, content, status)
    select gen_random_uuid(), ${accountId}, ${agentId}, 'email', gen_random_uuid(), 1, '{"text": "Hi"}',
      case when n % 100 = 0 then 'queued' else 'read' end
    from generate_series(1, 10000) as n`.execute(db)
  await queue(slow, { status: 'sending' })
  await sql`vacuum analyze deliveries`.execute(db)
  let compiled: CompiledQuery | null = null
  const recorder: KyselyPlugin = {
    transformQuery({ node, queryId }) {
      compiled = db.getExecutor().compileQuery(node, queryId)
      return node
    },
    transformResult: async ({ result }) => result,
  }
  await claimDelivery(db.withPlugin(recorder))
  assert.ok(compiled)
  const query: CompiledQuery = compiled
  const { rows } = await db.executeQuery<{ 'QUERY PLAN': string }>(
    CompiledQuery.raw(`explain ${query.sql}`, [...query.parameters]),
  )
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
  assert.doesNotMatch(plan, /Seq Scan/, plan)
  for (const index of ['deliveries_under_way', 'deliveries_due', 'deliveries_open'])
    assert.ok(plan.includes(index), plan)
})
