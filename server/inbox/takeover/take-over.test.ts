import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { onPostgres } from '../../../test/database.ts'
import { type ModelServer, startModelServer } from '../../../test/fakes/model-server.ts'
import { tokens } from '../../../test/fakes/reply.ts'
import { readStream } from '../../../test/read-stream.ts'
import { type Client, type Service, startService } from '../../../test/start.ts'
import { until } from '../../../test/until.ts'
import { memberOf } from '../../../test/workspace.ts'
import { createMember } from '../../accounts/records/members.ts'
import { requireConversation } from '../../conversations/records/queries.ts'
import { reconcile } from '../../conversations/records/reconcile-credits.ts'
import { newId } from '../../platform/db/ids.ts'
import { json } from '../../platform/db/statements/json.ts'
import { handBack, takeOver } from './take-over.ts'

let models: ModelServer
let service: Service

before(async () => {
  models = await startModelServer()
  service = await startService(models.settings)
})
after(async () => {
  await service.close()
  await models.close()
})

const asJson = { 'content-type': 'application/json' }

type World = { client: Client; agentId: string; members: string[] }

async function world(): Promise<World> {
  const client = await service.account()
  const agentId = (await client.request('POST', '/agents', { name: 'Agent' })).body.id
  const account = { id: client.accountId, plan: 'unlimited' }
  const members = await Promise.all(
    ['ann', 'bob'].map((name) =>
      createMember(service.ctx.db, account, { email: `${name}@example.com`, name }),
    ),
  )
  return { client, agentId, members: members.map((member) => (member as { id: string }).id) }
}

const at = ({ client, agentId }: World, conversationId: string) => ({
  post: (what: string, body?: object) =>
    client.request('POST', `/agents/${agentId}/conversations/${conversationId}/${what}`, body),
  messages: async () =>
    (await client.request('GET', `/agents/${agentId}/conversations/${conversationId}/messages`)).body.data,
})
const say = ({ client, agentId }: World, body: object) =>
  client.request('POST', `/agents/${agentId}/chat`, { stream: false, ...body })
const stream = ({ client, agentId }: World, body: object) =>
  client.raw('POST', `/agents/${agentId}/chat`, { body: JSON.stringify(body), headers: asJson })

test('takeover, hand-back and end move the conversation and its ticket', async () => {
  const one = await world()
  const conversationId = (await say(one, { message: 'Help', userId: 'u1' })).body.data.metadata.conversationId
  const { post } = at(one, conversationId)
  const [ann, bob] = one.members
  const ticket = async (number: number) =>
    (await one.client.request('GET', `/agents/${one.agentId}/helpdesk/tickets/${number}`)).body

  const early = await post('handback')
  assert.deepEqual([early.status, early.body.error.code], [409, 'CONVERSATION_NOT_TAKEN_OVER'])
  const taken = await post('takeover', { memberId: ann })
  assert.deepEqual(taken.body, { data: { id: conversationId, status: 'taken_over', ticketNumber: 1 } })
  assert.deepEqual((await post('takeover', { memberEmail: 'ANN@example.com' })).body, taken.body, 'once more')
  const late = await post('takeover', { memberId: bob })
  assert.deepEqual([late.status, late.body.error.code], [409, 'CHAT_CONVERSATION_NOT_ONGOING'])
  const open = await ticket(1)
  assert.deepEqual(
    [open.assigneeId, open.statusCategory, open.conversationId, open.customer.id, open.channel],
    [ann, 'on_you', conversationId, 'u1', 'api'],
  )
  const refused = await say(one, { message: 'Hello?', conversationId })
  assert.deepEqual([refused.status, refused.body.error.details], [409, { status: 'taken_over' }])

  assert.deepEqual((await post('handback')).body, { data: { id: conversationId, status: 'ongoing' } })
  assert.equal((await ticket(1)).statusCategory, 'closed')
  assert.equal((await say(one, { message: 'Hello?', conversationId })).status, 200)
  assert.equal((await post('takeover', { memberId: bob })).body.data.ticketNumber, 2)
  assert.equal((await post('end')).body.data.status, 'ended')
  assert.equal((await post('end')).status, 200)
  const over = await post('takeover', { memberId: bob })
  assert.deepEqual([over.status, over.body.error.details], [409, { status: 'ended' }])
  for (const who of [{}, { memberId: ann, memberEmail: 'ann@example.com' }]) {
    assert.ok((await post('takeover', who)).body.error.details.memberId)
  }
  for (const who of [
    { memberId: 'x' },
    { memberEmail: 'eve@example.com' },
    { memberId: (await world()).members[0] },
  ]) {
    const { status, body } = await post('takeover', who)
    assert.deepEqual([status, body.error.code], [422, 'TEAM_MEMBER_NOT_FOUND'])
  }
})

test("an application's results are accepted during a takeover, and the agent does not continue from them", async () => {
  const one = await world()
  const inputs = { type: 'object' }
  const action = { name: 'show_map', type: 'client', description: 'd', inputs }
  await one.client.request('POST', `/agents/${one.agentId}/actions`, action)
  models.queue.push({
    tokens: ['Look.'],
    toolCalls: ['a', 'b'].map((id) => ({ id, name: 'show_map', input: {} })),
  })
  const { data } = (await say(one, { message: 'Where?' })).body
  const { conversationId } = data.metadata
  const { post, messages } = at(one, conversationId)
  const [done, open] = data.parts.slice(1).map(({ toolCallId }: { toolCallId: string }) => toolCallId)
  const { ticketNumber } = (await post('takeover', { memberId: one.members[0] })).body.data
  assert.equal((await post('tool-result', { toolCallId: done, output: 'The map is shown' })).status, 200)
  assert.match(JSON.stringify(await messages()), /The map is shown/, 'the person sees it')
  const silent = await say(one, { conversationId })
  assert.deepEqual([silent.status, silent.body.error.code], [409, 'CHAT_CONVERSATION_NOT_ONGOING'])
  const reply = { type: 'reply', content: 'I see the map, too.', authorId: one.members[0] }
  const path = `/agents/${one.agentId}/helpdesk/tickets/${ticketNumber}/messages`
  assert.equal((await one.client.request('POST', path, reply)).status, 201)

  await post('handback')
  assert.equal((await post('tool-result', { toolCallId: open, output: 'Late' })).status, 200)
  const onward = await say(one, { conversationId })
  assert.deepEqual([onward.status, onward.body.error.code], [409, 'CHAT_NOTHING_TO_CONTINUE'])
  models.queue.push({ tokens: ['Yes.'] })
  assert.equal((await say(one, { conversationId, message: 'Is it there?' })).body.data.parts[0].text, 'Yes.')
  const told = models.requests.findLast(({ body }) => /Is it there/.test(JSON.stringify(body)))!.body.messages
  assert.deepEqual(
    told.slice(1).map(({ role }: { role: string }) => role),
    ['user', 'assistant', 'tool', 'tool', 'assistant', 'user'],
  )
  const types = (await messages()).map(({ parts }: { parts: { type: string }[] }) => parts.length)
  assert.deepEqual(types, [1, 5, 1, 1, 1])
})

test("a removed member's conversation can be taken over again", async () => {
  const one = await world()
  const conversationId = (await say(one, { message: 'Help' })).body.data.metadata.conversationId
  const [ann, bob] = one.members
  const { post } = at(one, conversationId)
  await post('takeover', { memberId: ann })
  await service.ctx.db.deleteFrom('members').where('id', '=', ann!).execute()
  assert.equal((await post('takeover', { memberId: bob })).status, 200)
})

test('of two concurrent takeovers, one succeeds', async () => {
  const one = await world()
  for (let round = 0; round < 10; round++) {
    const conversationId = (await say(one, { message: 'Help' })).body.data.metadata.conversationId
    const { post } = at(one, conversationId)
    const answers = await Promise.all(one.members.map((memberId) => post('takeover', { memberId })))
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409])
  }
})

/** Waits until a running answer has words. */
const someWords = (conversationId: string): Promise<boolean> =>
  until(
    'the first word',
    () => (service.ctx.generations.ofConversation(conversationId)?.parts.length ?? 0) > 0,
  )

test('the reader of a reply is told that a person has taken over, and the reply is discarded', async () => {
  const one = await world()
  const conversationId = (await say(one, { message: 'Help' })).body.data.metadata.conversationId
  models.queue.push({ tokens: tokens(300), delayMs: 10 })
  const reading = readStream(await stream(one, { message: 'More', conversationId }), 100_000)
  await someWords(conversationId)
  await at(one, conversationId).post('takeover', { memberId: one.members[0] })
  const { events } = await reading
  assert.deepEqual(
    events.slice(-3).map(({ event }) => event),
    ['data-handoff', 'finish-step', 'finish'],
  )
  const stored = await at(one, conversationId).messages()
  assert.deepEqual(
    stored.map(({ role }: { role: string }) => role),
    ['user', 'assistant', 'user'],
  )

  await at(one, conversationId).post('handback')
  models.queue.push({ tokens: tokens(300), delayMs: 10 })
  const asking = say(one, { message: 'And?', conversationId })
  await someWords(conversationId)
  await at(one, conversationId).post('end')
  const answer = await asking
  assert.deepEqual([answer.status, answer.body.error.details], [409, { status: 'ended' }])
})

test('a conversation that is handed back at once gets nothing of the silenced reply', async () => {
  const one = await world()
  const conversationId = (await say(one, { message: 'Help' })).body.data.metadata.conversationId
  const place = { accountId: one.client.accountId, agentId: one.agentId, conversationId }
  const member = { id: one.members[0]!, name: 'ann', email: 'ann@example.com' }
  models.queue.push({ tokens: tokens(300), delayMs: 10 })
  const key = { 'idempotency-key': 'more' }
  const more = { message: 'More', conversationId, stream: false }
  const asking = one.client.request('POST', `/agents/${one.agentId}/chat`, more, key)
  await someWords(conversationId)
  await takeOver(service.ctx, place, member)
  await handBack(service.ctx, place, null)

  const { status, body } = await asking
  assert.deepEqual([status, body.error.details], [409, { status: 'taken_over' }])
  const again = await one.client.request('POST', `/agents/${one.agentId}/chat`, more, key)
  assert.deepEqual([again.status, again.body], [status, body])
  const stored = await at(one, conversationId).messages()
  assert.deepEqual(
    stored.map(({ role }: { role: string }) => role),
    ['user', 'assistant', 'user'],
  )
})

test('an answer taken over before its first word stays silent, also after an immediate hand-back', async () => {
  const one = await world()
  const conversationId = (await say(one, { message: 'Help' })).body.data.metadata.conversationId
  const place = { accountId: one.client.accountId, agentId: one.agentId, conversationId }
  const member = { id: one.members[0]!, name: 'ann', email: 'ann@example.com' }
  const held = Promise.withResolvers<void>()
  models.queue.push({ tokens: ['Never'], beforeToken: () => held.promise })
  const asking = say(one, { message: 'More', conversationId })
  await until('the question', () => service.ctx.generations.ofConversation(conversationId)?.wasAsked)
  await takeOver(service.ctx, place, member)
  await handBack(service.ctx, place, null)

  const { status, body } = await asking
  held.resolve()
  assert.deepEqual([status, body.error?.details], [409, { status: 'taken_over' }])
  assert.equal((await at(one, conversationId).messages()).length, 3)
})

test('a step records its calls during a takeover of its conversation', {
  skip: !onPostgres() && 'the embedded database does one thing at a time',
}, async () => {
  const one = await world()
  const { conversationId, userMessageId } = (await say(one, { message: 'Help' })).body.data.metadata
  const owned = { account_id: one.client.accountId, agent_id: one.agentId, conversation_id: conversationId }
  await service.ctx.db.transaction().execute(async (trx) => {
    await requireConversation(
      trx,
      { accountId: one.client.accountId, agentId: one.agentId, conversationId },
      true,
    )
    // It would wait for this transaction, which waits for it.
    await service.ctx.db
      .insertInto('tool_calls')
      .values({
        ...owned,
        id: newId(),
        message_id: userMessageId,
        generation_id: newId(),
        name: 'x',
        type: 'http',
        input: json({}),
        status: 'pending',
      })
      .execute()
  })
  const { rows } = await sql`select from tool_calls where conversation_id = ${conversationId}`.execute(
    service.ctx.db,
  )
  assert.equal(rows.length, 1)
})

test('500 races of takeover against a reply leave no model output after the takeover', async () => {
  const RACES = 500
  const AT_ONCE = 40
  /** Replies that only continue when the takeover has been answered, by the text of their question. */
  const held = new Map<string, PromiseWithResolvers<void>>()
  models.otherwise(({ body }) => {
    const text = JSON.stringify(body)
    if (text.includes('Write a title')) return { tokens: ['T'] }
    const hold = held.get(/Race \d+/.exec(text)?.[0] ?? '')
    return {
      tokens: tokens(12),
      delayMs: 10,
      ...(hold ? { beforeToken: (index) => (index === 6 ? hold.promise : Promise.resolve()) } : {}),
    }
  })
  const outcomes = { silent: 0, spoken: 0 }
  // The takeover comes after some of the events of the reply: the same ones in every run, on every machine.
  let seed = 7
  const random = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
    return seed % below
  }
  async function race(one: World, number: number): Promise<void> {
    const message = `Race ${number}`
    // A slow machine decides most races the same way: every fifth is decided before, one way and the other.
    const isHeld = number % 5 === 0
    const isLate = number % 5 === 1
    if (isHeld) held.set(message, Promise.withResolvers())
    const response = await stream(one, { message })
    const reader = response.body!.getReader()
    const { value } = await reader.read()
    const conversationId = /"conversationId":"([^"]+)"/.exec(new TextDecoder().decode(value))![1]!
    const events = isHeld ? 0 : isLate ? Number.POSITIVE_INFINITY : random(20)
    for (let left = events; left > 0 && !(await reader.read()).done; left--);
    const place = { accountId: one.client.accountId, conversationId }
    const taken = await at(one, conversationId).post('takeover', { memberId: one.members[0] })
    assert.equal(taken.status, 200)
    held.get(message)?.resolve()
    const count = () =>
      service.ctx.db
        .selectFrom('messages')
        .select(['id', 'role', 'parts'])
        .where('account_id', '=', place.accountId)
        .where('conversation_id', '=', place.conversationId)
        .orderBy('seq')
        .execute()
    const then = await count()
    while (!(await reader.read()).done);
    assert.deepEqual(await count(), then)
    const outcome = then.length === 1 ? 'silent' : 'spoken'
    if (isHeld || isLate) assert.equal(outcome, isHeld ? 'silent' : 'spoken', message)
    outcomes[outcome]++
  }
  for (let done = 0; done < RACES; done += AT_ONCE) {
    const one = await world()
    await Promise.all(Array.from({ length: AT_ONCE }, (_, i) => race(one, done + i)))
  }
  assert.ok(outcomes.silent > 50 && outcomes.spoken > 50, `both must happen: ${JSON.stringify(outcomes)}`)
  await service.ctx.generations.idle()
  assert.deepEqual(await reconcile(service.ctx.db), { balanced: true, difference: 0 })
})

test('whoever takes over or replies in the browser is there, except who has chosen to be away', async () => {
  const one = await world()
  const cleo = await memberOf(service, one.client.accountId, 'owner')
  const presences = async () => {
    const { body } = await one.client.request('GET', `/agents/${one.agentId}/helpdesk/members`)
    // Members who were added in one millisecond are in any order.
    return body.map(({ name, presence }: Record<string, string>) => [name, presence]).sort()
  }
  const open = async () => {
    const conversationId = (await say(one, { message: 'Help' })).body.data.metadata.conversationId
    const talk = `/agents/${one.agentId}/conversations/${conversationId}/takeover`
    return { talk, conversationId }
  }
  const { talk } = await open()
  // A key that acts for a member does not know where the member is.
  const { ticketNumber } = (await one.client.request('POST', talk, { memberId: one.members[0] })).body.data
  const nobody = [
    ['ann', 'offline'],
    ['bob', 'offline'],
  ]
  assert.deepEqual(await presences(), [...nobody, ['owner', 'offline']])
  const mine = await cleo.request('POST', (await open()).talk, { memberId: cleo.memberId })
  assert.equal(mine.status, 200)
  assert.deepEqual(await presences(), [...nobody, ['owner', 'online']])

  const report = async (presence: string) =>
    cleo.request('PUT', `/members/${cleo.memberId}/presence`, { presence })
  const reply = () =>
    cleo.request('POST', `/agents/${one.agentId}/helpdesk/tickets/${ticketNumber}/messages`, {
      type: 'reply',
      content: 'I am here.',
      authorId: cleo.memberId,
    })
  await report('offline')
  assert.equal((await reply()).status, 201)
  assert.deepEqual((await presences()).at(-1), ['owner', 'online'])
  await report('away')
  assert.equal((await reply()).status, 201)
  assert.deepEqual((await presences()).at(-1), ['owner', 'away'])
})
