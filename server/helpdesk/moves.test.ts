import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Service, startService } from '../../test/start.ts'
import { type Inbound, receiveMessage } from '../channels/receive-message.ts'
import { takeIn } from '../channels/take-in.ts'
import { type Desk, openDesk } from './for-tests.ts'

let service: Service

before(async () => {
  service = await startService()
})
after(() => service.close())

let received = 0

/** A customer's message on a channel, taken in at once; answers its conversation. */
export async function write(
  service: Service,
  { owner }: Desk,
  text: string,
  peer = '+12025550100',
): Promise<string> {
  const { db } = service.ctx
  const inbound: Inbound = {
    ...owner,
    channel: 'messaging',
    connection: '1',
    peer,
    person: { phonenumber: peer },
    providerMessageId: `m${received++}`,
    sentAt: new Date(),
    // Nobody answers it: the tests are about people.
    content: { text, attachments: [], silent: true },
  }
  const { threadId } = await db.transaction().execute((trx) => receiveMessage(service.ctx, trx, inbound))
  await db
    .updateTable('inbound_messages')
    .set({ created_at: new Date(Date.now() - 60_000) })
    .where('thread_id', '=', threadId)
    .execute()
  await takeIn(service.ctx, { threadId })
  const { id } = await db
    .selectFrom('conversations')
    .select('id')
    .where('thread_id', '=', threadId)
    .orderBy('created_at', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow()
  return id
}

const messages = async ({ call }: Desk, number: number, types = 'reply,note,event') =>
  (await call('GET', `/tickets/${number}/messages?types=${types}`)).body.data

const statusOf = async ({ call }: Desk, number: number): Promise<string> =>
  (await call('GET', `/tickets/${number}`)).body.statusCategory

const reply = ({ call }: Desk, number: number, content = 'We look at it.') =>
  call('POST', `/tickets/${number}/messages`, { type: 'reply', content, authorEmail: 'ANN@example.com' })

const CATEGORIES = ['new', 'on_you', 'on_customer', 'on_hold', 'closed', 'cancelled'] as const

test('a reply moves what waits for the team to the customer, and nothing else', async () => {
  const desk = await openDesk(service)
  for (const before of CATEGORIES) {
    const { ticketNumber } = await desk.open({ statusCategory: before })
    assert.equal((await reply(desk, ticketNumber)).status, 201)
    const expected = before === 'new' || before === 'on_you' ? 'on_customer' : before
    assert.equal(await statusOf(desk, ticketNumber), expected, before)
    const events = await messages(desk, ticketNumber, 'event')
    assert.equal(events.length, expected === before ? 0 : 1)
    if (expected !== before) {
      const { eventType, statusFrom, statusTo, doneBy } = events[0].metadata
      assert.deepEqual(
        [eventType, statusFrom, statusTo, doneBy],
        ['status_changed', before, 'on_customer', desk.members.ann],
      )
    }
  }
})

test("a customer's message moves what waits for the customer to the team", async () => {
  const desk = await openDesk(service)
  for (const [at, before] of CATEGORIES.entries()) {
    const peer = `+1202555011${at}`
    const conversationId = await write(service, desk, 'Hello', peer)
    const { ticketNumber } = await desk.open({ conversationId })
    if (before !== 'new') await desk.call('PATCH', `/tickets/${ticketNumber}`, { statusCategory: before })
    assert.equal(await write(service, desk, 'Anybody?', peer), conversationId)
    const moves = ['on_customer', 'on_hold', 'closed'].includes(before)
    assert.equal(await statusOf(desk, ticketNumber), moves ? 'on_you' : before, before)
    const said = await messages(desk, ticketNumber, 'reply')
    // What is cancelled was no ticket: the message is only the conversation's.
    assert.deepEqual(
      said.map(({ sender, content }: { sender: { type: string }; content: string }) => [
        sender.type,
        content,
      ]),
      before === 'cancelled' ? [] : [['customer', '<p>Anybody?</p>']],
    )
  }
})

test('takeover assigns, hand-back closes, and what the customer writes then is the agent’s', async () => {
  const desk = await openDesk(service)
  const conversationId = await write(service, desk, 'Hello')
  const path = `/agents/${desk.agentId}/conversations/${conversationId}`
  const taken = await desk.client.request('POST', `${path}/takeover`, { memberId: desk.members.bob })
  const number = taken.body.data.ticketNumber
  assert.equal(await statusOf(desk, number), 'on_you')
  await desk.client.request('POST', `${path}/handback`)
  assert.equal(await statusOf(desk, number), 'closed')
  await write(service, desk, 'Are you there?')
  assert.equal(await statusOf(desk, number), 'closed')
})

test('closing or cancelling ends a conversation that a person has, and no other', async () => {
  const desk = await openDesk(service)
  for (const category of ['closed', 'cancelled'] as const) {
    for (const isTaken of [true, false]) {
      const conversationId = await write(
        service,
        desk,
        'Hello',
        `+1202555020${category.length}${Number(isTaken)}`,
      )
      const path = `/agents/${desk.agentId}/conversations/${conversationId}`
      if (isTaken) await desk.client.request('POST', `${path}/takeover`, { memberId: desk.members.ann })
      else await desk.open({ conversationId })
      const { body } = await desk.call('GET', '/tickets?sortBy=createdAt&limit=1')
      const answer = await desk.call('PATCH', `/tickets/${body.data[0].ticketNumber}`, {
        statusCategory: category,
      })
      assert.equal(answer.body.statusCategory, category)
      const row = await service.ctx.db
        .selectFrom('conversations')
        .select('status')
        .where('id', '=', conversationId)
        .executeTakeFirstOrThrow()
      assert.equal(row.status, isTaken ? 'ended' : 'ongoing')
    }
  }
})

test('who comes back to a solved ticket opens it again, in the new conversation', async () => {
  const desk = await openDesk(service)
  const first = await write(service, desk, 'Hello')
  const taken = await desk.client.request('POST', `/agents/${desk.agentId}/conversations/${first}/takeover`, {
    memberId: desk.members.ann,
  })
  const number = taken.body.data.ticketNumber
  await desk.call('PATCH', `/tickets/${number}`, { statusCategory: 'closed' })
  const second = await write(service, desk, 'It is broken again')
  assert.notEqual(second, first)
  const ticket = (await desk.call('GET', `/tickets/${number}`)).body
  assert.deepEqual(
    [ticket.statusCategory, ticket.conversationId, ticket.assigneeId],
    ['on_you', second, desk.members.ann],
  )
})

test('a reply is said in the conversation and sent on its channel', async () => {
  const desk = await openDesk(service)
  const conversationId = await write(service, desk, 'Hello')
  const { ticketNumber } = await desk.open({ conversationId })
  const early = await reply(desk, ticketNumber)
  assert.deepEqual([early.status, early.body.error.code], [409, 'CONVERSATION_NOT_TAKEN_OVER'])
  await desk.client.request('POST', `/agents/${desk.agentId}/conversations/${conversationId}/takeover`, {
    memberId: desk.members.ann,
  })
  const sent = await reply(desk, ticketNumber, 'One **two**\nthree <b>four</b>')
  assert.equal(sent.status, 201)
  const { id: _id, createdAt: _createdAt, ...shown } = sent.body
  assert.deepEqual(shown, {
    type: 'reply',
    sender: { type: 'agent', id: desk.members.ann, name: 'ann', email: 'ann@example.com' },
    content: '<p>One <strong>two</strong><br>three four</p>',
    contentText: 'One **two**\nthree <b>four</b>',
    attachments: [],
    metadata: { delivery: { status: 'queued', error: null } },
  })
  const { db } = service.ctx
  const said = await db
    .selectFrom('messages')
    .select(['id', 'role', 'parts', 'metadata'])
    .where('conversation_id', '=', conversationId)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow()
  assert.deepEqual(
    [said.role, said.parts, said.metadata?.author],
    [
      'assistant',
      [{ type: 'text', text: sent.body.contentText }],
      { type: 'human_agent', name: 'ann', memberId: desk.members.ann },
    ],
  )
  const delivery = await db
    .selectFrom('deliveries')
    .selectAll()
    .where('ticket_message_id', '=', sent.body.id)
    .executeTakeFirstOrThrow()
  assert.deepEqual(
    [delivery.channel, delivery.message_id, delivery.content.html, delivery.conversation_id],
    ['messaging', said.id, sent.body.content, conversationId],
  )
  await db
    .updateTable('deliveries')
    .set({ status: 'failed', error: 'No.' })
    .where('id', '=', delivery.id)
    .execute()
  const path = `/tickets/${ticketNumber}/messages`
  const failed = (await desk.call('GET', path)).body.data.at(-1)
  assert.deepEqual(failed.metadata, { delivery: { status: 'failed', error: 'No.' } })
  const again = await desk.call('POST', `${path}/${sent.body.id}/retry`)
  assert.deepEqual([again.status, again.body.metadata.delivery.status], [200, 'queued'])
  const found = await desk.client.request(
    'GET',
    `/agents/${desk.agentId}/conversations/export?conversationId=${conversationId}&include=messages`,
  )
  assert.equal(found.body.data[0].messages.at(-1).parts[0].text, sent.body.contentText)
})

test('a ticket without a conversation is answered by mail', async () => {
  const desk = await openDesk(service)
  const { ticketNumber } = await desk.open()
  const { body } = await reply(desk, ticketNumber)
  const delivery = await service.ctx.db
    .selectFrom('deliveries')
    .select(['channel', 'thread_id', 'ticket_id', 'lane'])
    .where('ticket_message_id', '=', body.id)
    .executeTakeFirstOrThrow()
  assert.deepEqual([delivery.channel, delivery.thread_id], ['email', null])
  assert.equal(delivery.lane, delivery.ticket_id)
})

test('what is wrong with a reply is said', async () => {
  const desk = await openDesk(service)
  const stranger = await openDesk(service)
  const { ticketNumber } = await desk.open()
  const path = `/tickets/${ticketNumber}/messages`
  const ann = { authorId: desk.members.ann }
  const cases: [object, number, string][] = [
    [{ type: 'reply', content: '  \n ', ...ann }, 400, 'VALIDATION_INVALID_BODY'],
    [{ type: 'reply', content: 'x'.repeat(10_001), ...ann }, 400, 'VALIDATION_INVALID_BODY'],
    [{ type: 'note', content: 'x', ...ann }, 400, 'VALIDATION_INVALID_BODY'],
    [{ type: 'reply', content: 'x' }, 400, 'VALIDATION_INVALID_BODY'],
    [{ type: 'reply', content: 'x', ...ann, authorEmail: 'ann@example.com' }, 400, 'VALIDATION_INVALID_BODY'],
    [{ type: 'reply', content: 'x', authorId: 'nobody' }, 422, 'TEAM_MEMBER_NOT_FOUND'],
    [{ type: 'reply', content: 'x', authorId: stranger.members.ann }, 422, 'TEAM_MEMBER_NOT_FOUND'],
    [{ type: 'reply', content: 'x', authorEmail: 'eve@example.com' }, 422, 'TEAM_MEMBER_NOT_FOUND'],
    [{ type: 'reply', content: '<script>x</script>', ...ann }, 422, 'MESSAGE_CONTENT_NOT_RENDERABLE'],
    [{ type: 'reply', content: '<!-- x -->', ...ann }, 422, 'MESSAGE_CONTENT_NOT_RENDERABLE'],
    [{ type: 'reply', content: 'x', ...ann, attachments: ['nothing'] }, 400, 'VALIDATION_INVALID_BODY'],
  ]
  for (const [body, status, code] of cases) {
    const answer = await desk.call('POST', path, body)
    assert.deepEqual(
      [answer.status, answer.body.error.code],
      [status, code],
      JSON.stringify(body).slice(0, 90),
    )
  }
  assert.deepEqual(await messages(desk, ticketNumber), [])
  const longest = await desk.call('POST', path, { type: 'reply', content: ` ${'x'.repeat(10_000)} `, ...ann })
  assert.deepEqual([longest.status, longest.body.contentText.length], [201, 10_000])
  for (const number of ['2', '2147483647']) {
    const answer = await desk.call('POST', `/tickets/${number}/messages`, {
      type: 'reply',
      content: 'x',
      ...ann,
    })
    assert.deepEqual([answer.status, answer.body.error.code], [404, 'TICKET_NOT_FOUND'])
  }
  const tooLarge = await desk.call('POST', '/tickets/2147483648/messages', {
    type: 'reply',
    content: 'x',
    ...ann,
  })
  assert.deepEqual([tooLarge.status, Object.keys(tooLarge.body.error.details)], [400, ['ticketNumber']])
})

test('the same Idempotency-Key replies once', async () => {
  const desk = await openDesk(service)
  const { ticketNumber } = await desk.open()
  const body = { type: 'reply', content: 'Once', authorId: desk.members.ann }
  const path = `/agents/${desk.agentId}/helpdesk/tickets/${ticketNumber}/messages`
  const send = () => desk.client.request('POST', path, body, { 'idempotency-key': 'k' })
  const [one, two] = await Promise.all([send(), send()])
  assert.equal(one.body.id, two.body.id)
  assert.equal((await messages(desk, ticketNumber, 'reply')).length, 1)
})

test('notes stay inside and mention members', async () => {
  const desk = await openDesk(service, ['ann', 'ann lee', 'bob'])
  const { ticketNumber } = await desk.open()
  const content = 'Ask @Ann Lee or @bob@example.com, not eve@ann.example'
  const note = await desk.call('POST', `/tickets/${ticketNumber}/notes`, {
    content,
    authorId: desk.members.bob,
  })
  assert.equal(note.status, 201, JSON.stringify(note.body))
  assert.equal(note.body.type, 'note')
  assert.deepEqual(
    note.body.metadata.mentions.map(({ name }: { name: string }) => name),
    ['ann lee', 'bob'],
  )
  assert.equal(await statusOf(desk, ticketNumber), 'new')
  const deliveries = await service.ctx.db
    .selectFrom('deliveries')
    .select('id')
    .where('agent_id', '=', desk.agentId)
    .execute()
  assert.deepEqual(deliveries, [])
})
