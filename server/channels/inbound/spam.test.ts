import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import { customerWrites } from '../../../test/customer-writes.ts'
import { type ModelServer, startModelServer } from '../../../test/fakes/model-server.ts'
import { type ModelRequest, NEVER, type Reply } from '../../../test/fakes/reply.ts'
import { type Client, type Service, startService } from '../../../test/start.ts'
import { channelsAreQuiet, takeIn } from '../../../test/take-in.ts'
import { createMember } from '../../accounts/records/members.ts'
import { answerForgotten } from '../replies/answer-forgotten.ts'

let models: ModelServer
let service: Service
let withoutModel: Service
let client: Client
let agentId: string
/** The prompts of the model, and its answer. */
let judged: { spam: string; message: string }[] = []
let judge: (message: string) => Reply

const says = (spam: boolean): Reply => ({ tokens: [`{"spam": ${spam}}`] })
const RULE = 'Advertising, casino'

before(async () => {
  models = await startModelServer()
  models.otherwise(({ body }: ModelRequest): Reply => {
    const [system, user] = body.messages
    if (!/Decide whether .* is spam/.test(system.content)) return { tokens: ['Yes.'] }
    const input = JSON.parse(user.content)
    judged.push(input)
    return judge(input.message)
  })
  service = await startService(models.settings)
  withoutModel = await startService()
})
after(async () => {
  await service.close()
  await withoutModel.close()
  await models.close()
})
beforeEach(async () => {
  judged = []
  judge = (message) => says(/casino/.test(message))
  await newAgent(service, { enabled: true, prompt: RULE })
})

async function newAgent(on: Service, spamSettings: object | null): Promise<void> {
  client = await on.account()
  agentId = (await client.request('POST', '/agents', { name: 'Agent' })).body.id
  assert.equal((await client.request('PUT', `/agents/${agentId}`, { spamSettings })).status, 200)
}

async function write(text: string, on = service): Promise<void> {
  await customerWrites(on, { accountId: client.accountId, agentId }, text)
  await takeIn(on, agentId)
}

type Told = { id: string; status: string; said: string[] }

async function conversation(on = service): Promise<Told | undefined> {
  const row = await on.ctx.db
    .selectFrom('conversations')
    .select(['id', 'status'])
    .where('agent_id', '=', agentId)
    .executeTakeFirst()
  if (!row) return
  const messages = await on.ctx.db
    .selectFrom('messages')
    .select(['role', 'parts'])
    .where('conversation_id', '=', row.id)
    .orderBy('seq')
    .execute()
  return {
    ...row,
    said: messages.map(({ role, parts }) => `${role}: ${(parts[0] as { text: string }).text}`),
  }
}

async function until(what: string, is: (told: Told) => boolean, on = service): Promise<Told> {
  for (let looks = 0; looks < 600; looks++) {
    const told = await conversation(on)
    if (told && is(told)) return told
    await wait(50)
  }
  assert.fail(`${what} never came: ${JSON.stringify(await conversation(on))}`)
}
const paused = (on = service) => until('the pause', ({ status }) => status === 'paused', on)
const saidIn = (count: number, on = service) =>
  until(`${count} messages`, ({ said }) => said.length >= count, on)
/** Runs the recurring job that looks for unanswered customers. */
async function lookAgain(): Promise<void> {
  await service.ctx.db
    .updateTable('conversations')
    .set({ updated_at: sql<Date>`now() - interval '1 minute'` })
    .where('agent_id', '=', agentId)
    .execute()
  await answerForgotten(service.ctx)
}
const creditsUsed = async () => (await client.request('GET', '/me')).body.credits.used

test('spam pauses the conversation: it is kept, the team is told, nobody answers, and it costs nothing', async () => {
  await write('Play at our casino')
  const { id, said } = await paused()
  assert.deepEqual(said, ['user: Play at our casino'])
  assert.deepEqual(judged, [{ spam: RULE, message: 'Play at our casino' }])
  const events = await service.ctx.db
    .selectFrom('helpdesk_events')
    .select('data')
    .where('agent_id', '=', agentId)
    .where('type', '=', 'conversation')
    .execute()
  // One event is about the message and one about the pause.
  assert.deepEqual(events, [{ data: { conversationId: id } }, { data: { conversationId: id } }])
  const { data } = (await client.request('GET', `/agents/${agentId}/conversations/export`)).body
  assert.deepEqual([data[0].id, data[0].status], [id, 'paused'])
  assert.deepEqual(data[0].messages[0].parts, [{ type: 'text', text: 'Play at our casino' }])

  await write('Still there?')
  await saidIn(2)
  await lookAgain()
  await channelsAreQuiet(service, agentId)
  assert.deepEqual((await conversation())?.said, ['user: Play at our casino', 'user: Still there?'])
  assert.deepEqual([await creditsUsed(), judged.length], [0, 1])
})

test('a resumed conversation is answered and not classified again', async () => {
  await write('I lost my casino chip')
  const { id } = await paused()
  const resumed = await client.request('PATCH', `/agents/${agentId}/conversations/${id}`, { paused: false })
  assert.equal(resumed.status, 200)
  await lookAgain()
  assert.deepEqual((await saidIn(2)).said, ['user: I lost my casino chip', 'assistant: Yes.'])
  await write('The casino chip is blue')
  assert.equal((await saidIn(4)).said.at(-1), 'assistant: Yes.')
  assert.equal(judged.length, 1)
})

test('other messages are answered; only the first three are classified', async () => {
  for (const [n, text] of ['One?', 'Two?', 'Three?', 'A casino?'].entries()) {
    await write(text)
    assert.equal((await saidIn(2 * n + 2)).said.at(-1), 'assistant: Yes.')
  }
  assert.deepEqual(
    judged.map(({ message }) => message),
    ['One?', 'Two?', 'Three?'],
  )
  assert.equal(await creditsUsed(), 4)
})

test('a conversation in which a team member has written is not classified', async () => {
  await write('Hello')
  const { id } = await saidIn(2)
  const account = { id: client.accountId, plan: 'unlimited' }
  const member = await createMember(service.ctx.db, account, { email: 'ann@example.com', name: 'Ann' })
  const path = `/agents/${agentId}/conversations/${id}`
  await client.request('POST', `${path}/takeover`, { memberId: (member as { id: string }).id })
  const [ticket] = (await client.request('GET', `/agents/${agentId}/helpdesk/tickets`)).body.data
  const reply = await client.request(
    'POST',
    `/agents/${agentId}/helpdesk/tickets/${ticket.ticketNumber}/messages`,
    { type: 'reply', content: 'I am Ann.', authorEmail: 'ann@example.com' },
  )
  assert.equal(reply.status, 201, JSON.stringify(reply.body))
  await client.request('POST', `${path}/handback`)
  await write('Play at our casino')
  assert.equal((await saidIn(5)).said.at(-1), 'assistant: Yes.')
  assert.equal(judged.length, 1)
})

test('a model that fails, or answers something else, does not prevent an answer', async () => {
  const failures: Reply[] = [
    { status: 500 },
    { tokens: ['This is spam: {"spam": true}'] },
    { tokens: ['{"spam": '], dropAfter: 1 },
    { after: NEVER },
  ]
  for (const failure of failures) {
    await newAgent(service, { enabled: true, prompt: RULE })
    judge = () => failure
    await write('Play at our casino')
    const { status, said } = await saidIn(2)
    assert.deepEqual([status, said.at(-1)], ['ongoing', 'assistant: Yes.'])
  }
  assert.ok(judged.length >= failures.length)
})

test('when disabled, nothing is classified', async () => {
  for (const settings of [{ enabled: false, prompt: RULE }, null]) {
    await newAgent(service, settings)
    await write('Play at our casino')
    assert.equal((await saidIn(2)).status, 'ongoing')
  }
  assert.equal(judged.length, 0)
})

test('without a model, the terms of the prompt decide', async () => {
  await newAgent(withoutModel, { enabled: true, prompt: RULE })
  await write('Where is my order?', withoutModel)
  assert.equal((await saidIn(2, withoutModel)).status, 'ongoing')
  await write('Play at our CASINO', withoutModel)
  const { id, said } = await paused(withoutModel)
  assert.equal(said.length, 3)
  const { metadata } = await withoutModel.ctx.db
    .selectFrom('messages')
    .select('metadata')
    .where('conversation_id', '=', id)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow()
  assert.deepEqual(metadata, { spam: { found: true, by: 'heuristic' } })
})

test('a takeover during the classification wins', async () => {
  const thought = Promise.withResolvers<void>()
  judge = () => ({ ...says(true), after: thought.promise })
  await write('Play at our casino')
  const { id } = await until('the question', () => judged.length > 0)
  const account = { id: client.accountId, plan: 'unlimited' }
  const member = await createMember(service.ctx.db, account, { email: 'ann@example.com', name: 'Ann' })
  const path = `/agents/${agentId}/conversations/${id}/takeover`
  assert.equal((await client.request('POST', path, { memberId: (member as { id: string }).id })).status, 200)
  thought.resolve()
  await channelsAreQuiet(service, agentId)
  const told = await conversation()
  assert.deepEqual([told?.status, told?.said.length], ['taken_over', 1])
})
