import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import { type ModelServer, startModelServer } from '../../../../test/fakes/model-server.ts'
import { erased } from '../../../../test/full-life.ts'
import { rowsNaming } from '../../../../test/rows-naming.ts'
import { type Client, type Service, startService } from '../../../../test/start.ts'
import { publicAgent, type Visitor, visitorOf } from '../../../../test/visitor.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import { eraseUser } from '../erasing/erase-user.ts'
import { addErasure } from '../erasing/erasures.ts'
import { visitorIds } from './person-rows.ts'

const MAIL = 'markerzq@example.com'

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
  for (const action of [
    { type: 'collect-leads', name: 'note_lead', description: 'Notes who asks' },
    { type: 'escalate', name: 'ask_a_person', description: 'Asks a person' },
  ])
    await client.request('POST', `/agents/${agentId}/actions`, action)
  visitor = visitorOf(service, agentId)
})

/** Sends a message, waits for the answer and returns the conversation's id. */
async function said(message: string, of = visitor): Promise<string> {
  const { conversationId } = await of.write(message)
  await service.ctx.generations.idle()
  return conversationId
}

/** Sends the contact form. */
async function filled(details: object, of = visitor): Promise<void> {
  const { status, body } = await of.request('POST', '/leads', details)
  assert.equal(status, 201, JSON.stringify(body))
}

/** Runs a conversation of an application's user, in which the model does what is queued. */
async function chatted(userId: string, message: string): Promise<void> {
  const chat = { message, userId, stream: false }
  const { status, body } = await client.request('POST', `/agents/${agentId}/chat`, chat)
  assert.equal(status, 200, JSON.stringify(body))
}

const called = (name: string, input: object): void => {
  models.queue.push({ toolCalls: [{ id: 'call_1', name, input }] }, { tokens: ['Noted.'] })
}

const exported = async (asked: object): Promise<{ type: string; [field: string]: unknown }[]> => {
  const { body } = await client.request('POST', '/users/export', asked)
  return body
    .trimEnd()
    .split('\n')
    .map((line: string) => JSON.parse(line))
}

/** Returns the user ids of the remaining conversations. */
async function usersLeft(): Promise<(string | null)[]> {
  const rows = await service.ctx.db
    .selectFrom('conversations')
    .select('user_id')
    .where('agent_id', '=', agentId)
    .orderBy('id')
    .execute()
  return rows.map(({ user_id }) => user_id)
}

const named = (text: string) => rowsNaming(service.ctx.db, client.accountId, text)

test('a visitor who left an address in the form is found by it, with everything the visitor wrote', async () => {
  const conversationId = await said('markerzq writes')
  const [visitorId] = await usersLeft()
  await filled({ name: 'Eve', email: 'Markerzq@Example.com', phone: '+49 30 901820', conversationId })
  await filled({ email: 'markerzq-at-work@example.com' })
  await said('markerzq writes again')
  const stranger = visitorOf(service, agentId)
  await said('I am a stranger', stranger)
  await filled({ email: 'stranger@example.com' }, stranger)
  called('note_lead', { email: MAIL })
  await chatted('real-user', 'Write to Eve')

  const answers = await Promise.all([
    exported({ email: MAIL }),
    exported({ phone: '+4930901820' }),
    exported({ userId: visitorId }),
  ])
  for (const lines of answers) {
    const of = (type: string) => lines.filter((line) => line.type === type)
    assert.deepEqual(of('user')[0]?.userIds, [visitorId])
    assert.deepEqual(
      of('conversation').map(({ userId }) => userId),
      [visitorId, visitorId],
    )
    assert.deepEqual(
      of('lead').flatMap(({ userId }) => userId ?? []),
      [visitorId, visitorId],
    )
  }
  assert.deepEqual(
    answers.map((lines) => lines.at(-1)?.leads),
    [3, 2, 2],
    'the lead in the conversation of another user names the address only',
  )

  const { counts } = await erased(client, { email: MAIL })
  assert.deepEqual([counts.conversations, counts.messages, counts.leads], [2, 4, 3])
  for (const name of ['markerzq-at-work', 'markerzq writes', '+4930901820', `${visitorId}`])
    assert.deepEqual(await named(name), [])
  const left = await usersLeft()
  assert.deepEqual([left.length, left[1]], [2, 'real-user'])
  assert.equal((await visitor.request('GET', `/conversations/${conversationId}`)).status, 404)
  const listed = await client.request('GET', `/api/v1/get-leads?chatbotId=${agentId}`)
  assert.deepEqual(
    listed.body.collectedCustomers.map(({ email }: { email: string }) => email),
    ['stranger@example.com'],
  )
})

test('a visitor who gave the address in the chat, to an action or for a ticket is found by it', async () => {
  for (const [action, input] of [
    ['note_lead', { email: MAIL }],
    ['ask_a_person', { subject: 'A lamp', summary: 'It is broken', email: MAIL }],
  ] as const) {
    visitor = visitorOf(service, agentId)
    await said('markerzq says hello')
    called(action, input)
    await said('markerzq says the address')
    called(action, input)
    await chatted('real-user', 'Write to Eve')
    const { counts } = await erased(client, { email: MAIL })
    assert.equal(counts.conversations, 2, action)
    assert.deepEqual(await named('markerzq says'), [])
    assert.deepEqual(new Set(await usersLeft()), new Set(['real-user']))
  }
})

test('a form sent before the first message belongs to the visitor', async () => {
  await filled({ email: MAIL })
  await said('markerzq writes later')
  const [visitorId] = await usersLeft()
  const [, , lead] = await exported({ userId: visitorId })
  assert.deepEqual([lead?.type, lead?.email, lead?.conversationId], ['lead', MAIL, null])
  const byMail = await exported({ email: MAIL })
  assert.equal(byMail.at(-1)?.conversations, 1)
  const { counts } = await erased(client, { userId: visitorId })
  assert.deepEqual([counts.conversations, counts.leads], [1, 1])
  assert.deepEqual(await named('markerzq'), [])
})

test('conversations are also erased when the visitor leaves the address during the erasure', async () => {
  const { db, jobs } = service.ctx
  const conversationId = await said('markerzq writes')
  await filled({ email: MAIL, conversationId })
  const running = db.updateTable('generations').set({ status: 'running' })
  await running.where('conversation_id', '=', conversationId).execute()
  let arrived = 0
  async function arrive(): Promise<void> {
    if (arrived++ > 0) return
    const other = visitorOf(service, agentId)
    await said('markerzq writes from the phone', other)
    await filled({ email: MAIL }, other)
  }
  const person = { userIds: [], contactIds: [], emails: [MAIL], phones: [] }
  const erasure = await transact(db, (trx) => addErasure(trx, client.accountId, 'test', person))
  const { conversations, leads } = await eraseUser({ db, jobs, stop: arrive }, erasure)
  assert.deepEqual([arrived, conversations, leads], [1, 2, 2])
  assert.deepEqual(await named('markerzq'), [])
})

test('visitors are found by their leads without scanning those of everybody', async () => {
  const { db } = service.ctx
  const { accountId } = client
  await sql`
    insert into conversations (id, account_id, agent_id, source, status, user_id)
    select gen_random_uuid(), ${accountId}, ${agentId}, 'Widget or Iframe', 'ended', 'visitor-' || n
    from generate_series(1, 20000) as n`.execute(db)
  // As on a website, only a few of many conversations have a lead. If there were as many leads as conversations, both
  // plans would cost the same.
  await sql`
    insert into leads (id, account_id, agent_id, conversation_id, user_id, email)
    select gen_random_uuid(), account_id, agent_id, id, user_id, user_id || '@example.com' from conversations
    where agent_id = ${agentId} and user_id like '%7'`.execute(db)
  for (const table of ['conversations', 'leads']) await sql`analyze ${sql.table(table)}`.execute(db)
  const person = { userIds: ['ann'], contactIds: [], emails: ['visitor-7@example.com'], phones: [] }
  const wanted = visitorIds(accountId, person)
  assert.deepEqual((await wanted.execute(db)).rows, [{ user_id: 'visitor-7' }])
  const { rows } = await sql<{ 'QUERY PLAN': string }>`explain ${wanted}`.execute(db)
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
  assert.doesNotMatch(plan, /Seq Scan on (leads|conversations)/)
})
