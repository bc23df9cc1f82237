import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { type Client, type Service, startService } from '../../../test/start.ts'
import { newId } from '../../platform/db/ids.ts'
import { json } from '../../platform/db/statements/json.ts'
import type { Customer, StatusCategory } from '../../platform/db/tables/helpdesk.ts'
import { claimDueSyncs } from '../training/resync/claim-resyncs.ts'
import { planSyncs } from '../training/resync/plan-resyncs.ts'
import { gatherTickets } from './gather-tickets.ts'

let service: Service
let client: Client

before(async () => {
  service = await startService()
  client = await service.account()
})
after(() => service.close())

async function newAgent(owner = client): Promise<string> {
  return (await owner.request('POST', '/agents', { name: 'Agent' })).body.id
}

type Ticket = {
  number: number
  status?: StatusCategory
  subject?: string | null
  description?: string | null
  customer?: Partial<Customer>
  /** The messages of the conversation in order, with their authors. */
  said?: ['customer' | 'agent' | 'model', string][]
}

/** Creates a ticket with its conversation, like the help desk. */
async function addTicket(agentId: string, ticket: Ticket, owner = client): Promise<string> {
  const { number, status = 'closed', subject = 'Subject', description = null, customer, said = [] } = ticket
  const owned = { account_id: owner.accountId, agent_id: agentId }
  const conversationId = newId()
  const id = newId()
  await service.ctx.db
    .insertInto('conversations')
    .values({ ...owned, id: conversationId, source: 'API', status: 'ended' })
    .execute()
  const nobody = { id: null, name: null, email: null, phoneNumber: null }
  await service.ctx.db
    .insertInto('tickets')
    .values({
      ...owned,
      id,
      number,
      subject,
      description,
      status_category: status,
      customer: json({ ...nobody, ...customer }),
      channel: 'api',
      conversation_id: conversationId,
    })
    .execute()
  for (const [seq, [who, text]] of said.entries()) {
    const author = who === 'agent' ? { author: { type: 'human_agent', name: 'Ann' } } : null
    await service.ctx.db
      .insertInto('messages')
      .values({
        ...owned,
        id: newId(),
        conversation_id: conversationId,
        seq: seq + 1,
        role: who === 'customer' ? 'user' : 'assistant',
        parts: json([{ type: 'text', text }]),
        metadata: json(author),
      })
      .execute()
  }
  return id
}

const reply = (marker: string): string =>
  `You can set the ${marker} back by holding the button for ten seconds.`
const solved = (number: number, marker: string, more: Partial<Ticket> = {}): Ticket => ({
  number,
  subject: `${marker} does not start`,
  description: `My ${marker} shows a red light since the morning.`,
  said: [['agent', reply(marker)]],
  ...more,
})

const switchTo = async (agentId: string, enabled: boolean, owner = client): Promise<void> => {
  const answer = await owner.request('PUT', `/agents/${agentId}/ticket-knowledge`, { enabled })
  assert.deepEqual([answer.status, answer.body], [200, { success: true }])
}

// This bypasses the API, because polling would use up the rate limit.
const sourcesOf = (agentId: string) =>
  service.ctx.db
    .selectFrom('sources')
    .select(['id', 'name', 'status'])
    .where('agent_id', '=', agentId)
    .where('type', '=', 'ticket')
    .execute()

/** Waits until the agent has this many live ticket sources. */
async function live(agentId: string, count: number) {
  for (;;) {
    const sources = await sourcesOf(agentId)
    if (sources.length === count && sources.every(({ status }) => status === 'trained')) return sources
    await wait(30)
  }
}

async function answerTo(agentId: string, message: string): Promise<string> {
  const { body } = await client.request('POST', `/agents/${agentId}/chat`, { message, stream: false })
  return body.data.parts[0].text
}

test('solved tickets are used in answers only while the setting is on', async () => {
  const agentId = await newAgent()
  await addTicket(agentId, solved(1, 'quillfan'))
  assert.deepEqual((await client.request('GET', `/agents/${agentId}/ticket-knowledge`)).body, {
    enabled: false,
  })
  await gatherTickets(service.ctx, { agentId })
  assert.deepEqual(await sourcesOf(agentId), [])
  await switchTo(agentId, true)
  assert.deepEqual((await client.request('GET', `/agents/${agentId}/ticket-knowledge`)).body, {
    enabled: true,
  })
  const [source] = await live(agentId, 1)
  assert.equal(source?.name, '#1 quillfan does not start')
  assert.match(await answerTo(agentId, 'My quillfan shows a red light'), /holding the button/)
  const { tickets } = (await client.request('GET', `/agents/${agentId}/sources/summary`)).body
  assert.equal(tickets.count, 1)
  assert.ok(tickets.size > 0)
  await switchTo(agentId, false)
  assert.doesNotMatch(await answerTo(agentId, 'My quillfan shows a red light'), /holding the button/)
  assert.deepEqual(await sourcesOf(agentId), [])
  await switchTo(agentId, true)
  await live(agentId, 1)
})

test("only closed tickets with a helpful reply are used; the question is the customer's", async () => {
  const agentId = await newAgent()
  await addTicket(agentId, solved(1, 'openfan', { status: 'on_customer' }))
  await addTicket(agentId, solved(2, 'cancelfan', { status: 'cancelled' }))
  await addTicket(agentId, solved(3, 'silentfan', { said: [] }))
  await addTicket(agentId, solved(4, 'modelfan', { said: [['model', reply('modelfan')]] }))
  await addTicket(agentId, solved(5, 'shortfan', { said: [['agent', 'Done, bye!']] }))
  await addTicket(agentId, { number: 6, subject: null, said: [['agent', reply('nobodyfan')]] })
  await addTicket(agentId, {
    number: 7,
    subject: null,
    said: [
      ['customer', 'Hello, how do I reset the talkfan?'],
      ['model', 'I do not know.'],
      ['agent', reply('talkfan')],
      ['customer', 'Thanks a lot!'],
    ],
  })
  await switchTo(agentId, true)
  const [source] = await live(agentId, 1)
  assert.equal(source?.name, '#7')
  const { content } = await service.ctx.db
    .selectFrom('sources')
    .select('content')
    .where('id', '=', source?.id ?? '')
    .executeTakeFirstOrThrow()
  assert.deepEqual(content.questions, ['Hello, how do I reset the talkfan?'])
  assert.equal(content.answer, reply('talkfan'))
})

test('no personal data of the customer is kept', async () => {
  const agentId = await newAgent()
  const customer = {
    name: 'Zelda Quimby',
    email: 'zq@example.com',
    phoneNumber: '+4930123456',
    id: 'user-9917',
  }
  const id = await addTicket(agentId, {
    number: 1,
    subject: 'Refund for Zelda Quimby',
    description: 'I am Zelda, user-9917, reach me at zq@example.com or 030 1234567. Where is my refund?',
    customer,
    said: [
      ['agent', `Dear Ms Quimby, your refund left today; call +49 30 123456 if it is not there in a week.`],
    ],
  })
  const { conversation_id } = await service.ctx.db
    .selectFrom('tickets')
    .select('conversation_id')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  await service.ctx.db
    .insertInto('leads')
    .values({
      id: newId(),
      account_id: client.accountId,
      agent_id: agentId,
      conversation_id,
      name: 'Ms Brown',
    })
    .execute()
  await switchTo(agentId, true)
  const [source] = await live(agentId, 1)
  const row = await service.ctx.db
    .selectFrom('sources')
    .selectAll()
    .where('id', '=', source?.id ?? '')
    .executeTakeFirstOrThrow()
  const chunks = await service.ctx.db
    .selectFrom('chunks')
    .selectAll()
    .where('source_id', '=', row.id)
    .execute()
  const kept = JSON.stringify([row, chunks])
  assert.doesNotMatch(kept, /zelda|quimby|zq@|9917|123456/i)
  assert.match(kept, /your refund left today/)
})

test('sources follow the tickets when they are reopened, changed or deleted by hand', async () => {
  const agentId = await newAgent()
  const reopened = await addTicket(agentId, solved(1, 'reopenfan'))
  const changed = await addTicket(agentId, solved(2, 'changefan'))
  await addTicket(agentId, solved(3, 'deletefan'))
  const vanished = await addTicket(agentId, solved(4, 'vanishfan'))
  await switchTo(agentId, true)
  const sources = await live(agentId, 4)
  const versions = () =>
    service.ctx.db
      .selectFrom('sources')
      .select(['name', 'content_version'])
      .where('agent_id', '=', agentId)
      .orderBy('name')
      .execute()
  const before = await versions()
  await gatherTickets(service.ctx, { agentId })
  assert.deepEqual(await versions(), before, 'unchanged tickets change nothing')

  const change = (id: string, values: object) =>
    service.ctx.db.updateTable('tickets').set(values).where('id', '=', id).execute()
  await change(reopened, { status_category: 'on_you' })
  await change(changed, { description: 'My changefan hums and then stops.' })
  await service.ctx.db.deleteFrom('tickets').where('id', '=', vanished).execute()
  const byHand = sources.find(({ name }) => name?.startsWith('#3'))
  await client.request('DELETE', `/agents/${agentId}/sources/${byHand?.id}`)
  await gatherTickets(service.ctx, { agentId })
  await live(agentId, 1)
  assert.deepEqual(await versions(), [{ name: '#2 changefan does not start', content_version: 2 }])
  assert.match(await answerTo(agentId, 'changefan hums and then stops'), /holding the button/)
  assert.doesNotMatch(await answerTo(agentId, 'reopenfan does not start'), /set the reopenfan/)
})

test('new tickets are added by the weekly re-sync', async () => {
  const agentId = await newAgent()
  await addTicket(agentId, solved(1, 'earlyfan'))
  await switchTo(agentId, true)
  await live(agentId, 1)
  const agent = () =>
    service.ctx.db
      .selectFrom('agents')
      .select('next_ticket_sync_at')
      .where('id', '=', agentId)
      .executeTakeFirstOrThrow()
  await planSyncs(service.ctx.db)
  assert.equal((await agent()).next_ticket_sync_at, null)
  await client.request('PUT', `/agents/${agentId}/auto-retrain`, { enabled: true })
  await planSyncs(service.ctx.db)
  assert.ok(Number((await agent()).next_ticket_sync_at) > Date.now())
  await addTicket(agentId, solved(2, 'latefan'))
  await service.ctx.db
    .updateTable('agents')
    .set({ next_ticket_sync_at: new Date(0) })
    .where('id', '=', agentId)
    .execute()
  const claimed = await Promise.all([claimDueSyncs(service.ctx), claimDueSyncs(service.ctx)])
  assert.deepEqual(claimed.sort(), [0, 1])
  await live(agentId, 2)
  while (Number((await agent()).next_ticket_sync_at) < Date.now() + 6 * 86_400_000) await wait(20)
})

test('switching the setting off during a run leaves nothing behind', async () => {
  const agentId = await newAgent()
  for (let number = 1; number <= 20; number++) await addTicket(agentId, solved(number, `racefan${number}`))
  await switchTo(agentId, true)
  const gathering = gatherTickets(service.ctx, { agentId })
  while ((await sourcesOf(agentId)).length < 3) await wait(1)
  await switchTo(agentId, false)
  await gathering
  assert.deepEqual(await sourcesOf(agentId), [])
})

test('tickets stay within the training size of the plan', async () => {
  const owner = await service.account({ plan: 'standard' })
  const agentId = await newAgent(owner)
  await service.ctx.db
    .insertInto('sources')
    .values({
      id: newId(),
      account_id: owner.accountId,
      agent_id: agentId,
      type: 'text',
      name: 'x',
      status: 'trained',
      content: json({ text: 'x' }),
      size: 40 * 1_048_576 - 200,
    })
    .execute()
  await addTicket(agentId, solved(1, 'firstfan'), owner)
  await addTicket(agentId, solved(2, 'secondfan'), owner)
  await switchTo(agentId, true, owner)
  const [source] = await live(agentId, 1)
  assert.match(source?.name ?? '', /^#2/)
})
