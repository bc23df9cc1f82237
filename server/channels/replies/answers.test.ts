import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import { customerWrites } from '../../../test/customer-writes.ts'
import { type ModelServer, startModelServer } from '../../../test/fakes/model-server.ts'
import { NEVER } from '../../../test/fakes/reply.ts'
import { type Client, type Service, startService } from '../../../test/start.ts'
import { channelsAreQuiet, hurry, takeIn } from '../../../test/take-in.ts'
import { until } from '../../../test/until.ts'
import { withoutBlocks } from '../../../test/without-blocks.ts'
import { createMember } from '../../accounts/records/members.ts'
import { appendMessage } from '../../conversations/records/append-message.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import { ANSWER } from '../inbound/process-inbound.ts'
import { answerConversation } from './answer-conversation.ts'
import { answerForgotten } from './answer-forgotten.ts'
import { endIdle } from './end-idle.ts'

let models: ModelServer
let service: Service
let client: Client
let agentId: string

before(async () => {
  models = await startModelServer()
  service = await startService({ ...models.settings, ALLOWED_PRIVATE_HOSTS: '127.0.0.1' })
})
after(async () => {
  await service.close()
  await models.close()
})
beforeEach(async () => {
  client = await service.account()
  agentId = (await client.request('POST', '/agents', { name: 'Agent' })).body.id
  models.queue.length = 0
  models.requests.length = 0
  models.otherwise(() => ({ tokens: ['Yes.'] }))
})

const receive = (text: string, sent: { sentAt?: Date; id?: string } = {}) =>
  customerWrites(service, { accountId: client.accountId, agentId }, text, sent)
/** Receives a message and adds it to its conversation at once. */
async function write(text: string): Promise<void> {
  await receive(text)
  await takeIn(service, agentId)
}

type Told = { id: string; status: string; parent: string | null; said: string[] }

async function conversations(): Promise<Told[]> {
  const rows = await service.ctx.db
    .selectFrom('conversations')
    .select(['id', 'status', 'parent_conversation_id'])
    .where('agent_id', '=', agentId)
    .orderBy('created_at')
    .execute()
  return Promise.all(
    rows.map(async ({ id, status, parent_conversation_id }) => {
      const messages = await service.ctx.db
        .selectFrom('messages')
        .select(['role', 'parts'])
        .where('conversation_id', '=', id)
        .orderBy('seq')
        .execute()
      const said = messages.map(({ role, parts }) => `${role}: ${(parts[0] as { text: string }).text}`)
      return { id, status, parent: parent_conversation_id, said }
    }),
  )
}

const saidIn = (count: number) =>
  until(`${count} messages`, async () => {
    const all = await conversations()
    const newest = all.at(-1)
    return newest && newest.said.length >= count && newest
  })

/** Runs the recurring job until it finds something, because it skips locked conversations, such as one whose reply is ending. */
const sweep = () => until('a forgotten message', async () => (await answerForgotten(service.ctx)) > 0)

const sent = () =>
  service.ctx.db
    .selectFrom('deliveries')
    .select(['content', 'ordinal'])
    .where('agent_id', '=', agentId)
    .orderBy('ordinal')
    .execute()

const textsSent = async () => (await sent()).map(({ content }) => content.text)

const generations = () =>
  service.ctx.db
    .selectFrom('generations')
    .select('id')
    .where('agent_id', '=', agentId)
    .orderBy('id')
    .execute()

test('a burst in any order becomes one conversation in the order of sending, and is answered once', async () => {
  const at = Date.now()
  await Promise.all(
    [3, 1, 2, 1].map((second) =>
      receive(`Part ${second}`, { sentAt: new Date(at + second), id: `burst${second}` }),
    ),
  )
  const { said } = await saidIn(4)
  assert.deepEqual(said, ['user: Part 1', 'user: Part 2', 'user: Part 3', 'assistant: Yes.'])
  assert.deepEqual(
    (await sent()).map(({ content }) => content),
    [
      {
        text: 'Yes.',
        linkHosts: [],
        notice: { text: 'Your messages are answered by an AI system.', place: 'before' },
      },
    ],
  )
})

test('messages during an answer are answered after it, and read last', async () => {
  const second = Promise.withResolvers<void>()
  models.queue.push({ tokens: ['First.'], after: second.promise })
  await write('One?')
  await until('the first request', async () => models.requests.some(({ wire }) => wire === 'chat'))
  await write('Two?')
  await saidIn(2)
  second.resolve()
  const { said } = await saidIn(4)
  assert.deepEqual(said, ['user: One?', 'user: Two?', 'assistant: First.', 'assistant: Yes.'])
  const last = models.requests.findLast(({ body }) => JSON.stringify(body).includes('Two?'))
  const asked = models.requests
    .filter(
      ({ wire, body }) => wire === 'chat' && withoutBlocks(body.messages.at(-1)?.content ?? '') === 'Two?',
    )
    .at(-1)
  assert.ok(asked, JSON.stringify(last?.body.messages))
  assert.equal((await sent()).length, 2)
  assert.equal(await answerForgotten(service.ctx), 0)
})

test('a failing model is retried, and after too many failures a person is asked', async () => {
  models.otherwise(() => ({ status: 400 }))
  await write('Anybody?')
  const ticket = await until('a ticket', async () => {
    await hurry(service, ANSWER)
    return service.ctx.db.selectFrom('tickets').selectAll().where('agent_id', '=', agentId).executeTakeFirst()
  })
  assert.match(ticket.description ?? '', /could not answer/)
  assert.deepEqual((await conversations())[0]?.said, ['user: Anybody?'])
  assert.deepEqual(await sent(), [])
})

test('while the service is overloaded, an answer is tried again, and no ticket is opened', async () => {
  const { generations } = service.ctx
  const places: ReturnType<typeof generations.reserve>[] = []
  assert.throws(() => {
    for (;;) places.push(generations.reserve(client.accountId))
  })
  await write('Hello?')
  const conversation = await saidIn(1)
  const answer = () => answerConversation(service.ctx, { conversationId: conversation.id })
  await assert.rejects(answer, { code: 'SERVICE_OVERLOADED' })
  for (const place of places) place.leave()
  await answer().catch((error) => assert.equal(error.code, 'CHAT_CONVERSATION_BUSY'))
  assert.equal((await saidIn(2)).said.at(-1), 'assistant: Yes.')
  const { body } = await client.request('GET', `/agents/${agentId}/helpdesk/tickets`)
  assert.deepEqual(body.data, [])
})

test('an answer whose process died is generated again', async () => {
  models.queue.push({ tokens: ['Lost'], after: NEVER })
  await write('Hello?')
  await until('the request', () => models.queue.length === 0)
  const { id, live } = await until('the generation', async () => {
    const row = await service.ctx.db
      .selectFrom('generations')
      .select('id')
      .where('agent_id', '=', agentId)
      .executeTakeFirst()
    const live = row && service.ctx.generations.get(row.id)
    return live && { id: row.id, live }
  })
  await service.ctx.db.updateTable('generations').set({ owner: null }).where('id', '=', id).execute()
  await service.ctx.orphans.closeAll()
  live.abort('shutdown')
  await service.ctx.db
    .updateTable('conversations')
    .set({ updated_at: sql<Date>`now() - interval '1 minute'` })
    .where('agent_id', '=', agentId)
    .execute()
  await sweep()
  assert.deepEqual((await saidIn(2)).said, ['user: Hello?', 'assistant: Yes.'])
})

test('a message is answered although the clock of the database was set back while it waited', async () => {
  await receive('Hello?')
  await service.ctx.db
    .updateTable('inbound_messages')
    .set({ created_at: sql<Date>`now() + interval '1 hour'` })
    .where('agent_id', '=', agentId)
    .execute()
  const { id } = await saidIn(2)
  await transact(service.ctx.db, async (trx) => {
    const conversation = { id, account_id: client.accountId, agent_id: agentId }
    await appendMessage(trx, conversation, { role: 'user', parts: [{ type: 'text', text: 'And now?' }] })
    await trx
      .updateTable('conversations')
      .set({ updated_at: sql<Date>`now() + interval '1 hour'` })
      .where('id', '=', id)
      .execute()
  })
  await sweep()
  assert.equal((await saidIn(4)).said.at(-1), 'assistant: Yes.')
})

test('half an answer is not sent: the question is answered again', async () => {
  models.queue.push({ tokens: ['Half', ' an', ' answer.'], delayMs: 50, dropAfter: 2 })
  await write('Hello?')
  assert.deepEqual((await saidIn(2)).said, ['user: Hello?', 'assistant: Yes.'])
  assert.deepEqual(await textsSent(), ['Yes.'])
})

test('half an answer of a process that died is not sent either', async () => {
  models.queue.push({ tokens: ['Half', ' an', ' answer.'], stallAfter: 2 })
  await write('Hello?')
  const live = await until('the words', async () => {
    const { id = '' } = (await generations()).at(-1) ?? {}
    const found = service.ctx.generations.get(id)
    return found && found.count > 4 && found.unsaved.length === 0 && found
  })
  await service.ctx.db.updateTable('generations').set({ owner: null }).where('id', '=', live.ids.id).execute()
  await service.ctx.orphans.closeAll()
  // Its process is told, and asks for another answer as if it had lost this one.
  live.abort('lost')
  assert.deepEqual((await saidIn(2)).said, ['user: Hello?', 'assistant: Yes.'])
  assert.deepEqual(await textsSent(), ['Yes.'])
})

test('an answer that broke off after an action is completed without repeating it', async () => {
  const http = { method: 'GET', url: `${models.url}/orders` }
  const action = { name: 'find_order', type: 'http', description: 'Finds it.', http }
  assert.equal((await client.request('POST', `/agents/${agentId}/actions`, action)).status, 201)
  models.queue.push(
    { tokens: ['Let me see.'], toolCalls: [{ id: 'call_1', name: 'find_order', input: {} }] },
    { tokens: ['It', ' was', ' sent.'], delayMs: 50, dropAfter: 2 },
  )
  await write('Where is it?')
  assert.deepEqual(await until('the answer', async () => (await sent()).length > 0 && textsSent()), ['Yes.'])
  const messages = await service.ctx.db
    .selectFrom('messages')
    .select(['parts', 'metadata'])
    .where('agent_id', '=', agentId)
    .orderBy('seq')
    .execute()
  assert.deepEqual(
    messages.map(({ parts }) => parts.map(({ type }) => type)),
    [['text'], ['text', 'tool-call', 'tool-result', 'text']],
  )
  assert.equal(messages[1]?.metadata?.finishReason, 'stop')
  assert.equal(await answerForgotten(service.ctx), 0)
})

test('while a person has the conversation, the model is silent; after the hand-back, it answers', async () => {
  await write('Hello?')
  const { id } = await saidIn(2)
  const member = await createMember(
    service.ctx.db,
    { id: client.accountId, plan: 'unlimited' },
    { email: 'ann@example.com', name: 'Ann' },
  )
  const path = `/agents/${agentId}/conversations/${id}`
  await client.request('POST', `${path}/takeover`, { memberId: (member as { id: string }).id })
  await write('Are you a person?')
  await saidIn(3)
  await channelsAreQuiet(service, agentId)
  assert.equal((await conversations())[0]?.said.length, 3)
  const kept = await service.ctx.db
    .selectFrom('ticket_messages')
    .select(['type', 'content_text'])
    .where('agent_id', '=', agentId)
    .where('type', '=', 'reply')
    .execute()
  assert.deepEqual(kept, [{ type: 'reply', content_text: 'Are you a person?' }])
  await client.request('POST', `${path}/handback`)
  await service.ctx.db
    .updateTable('conversations')
    .set({ updated_at: sql<Date>`now() - interval '1 minute'` })
    .where('agent_id', '=', agentId)
    .execute()
  await sweep()
  assert.equal((await saidIn(4)).said.at(-1), 'assistant: Yes.')
})

test('a conversation ends when idle, and the next one continues from it', async () => {
  await write('My order is late.')
  const first = await saidIn(2)
  await service.ctx.db
    .updateTable('conversations')
    .set({ updated_at: sql<Date>`now() - interval '25 hours'` })
    .where('agent_id', '=', agentId)
    .execute()
  assert.ok((await endIdle(service.ctx.db)) >= 1)
  await write('It is me again.')
  const next = await until('the next conversation', async () => {
    const all = await conversations()
    return all.length === 2 && all[1]?.said.length === 2 && all[1]
  })
  assert.deepEqual([next.parent, next.status], [first.id, 'ongoing'])
  assert.equal((await conversations())[0]?.status, 'ended')
})
