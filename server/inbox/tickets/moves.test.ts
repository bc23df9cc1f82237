import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Desk, openDesk, write } from '../../../test/open-desk.ts'
import { type Service, startService } from '../../../test/start.ts'
import { memberOf } from '../../../test/workspace.ts'
import { endIdle } from '../../channels/replies/end-idle.ts'

let service: Service

before(async () => {
  service = await startService()
})
after(() => service.close())

const messages = async ({ call }: Desk, number: number, types = 'reply,note,event') =>
  (await call('GET', `/tickets/${number}/messages?types=${types}`)).body.data

const statusOf = async ({ call }: Desk, number: number): Promise<string> =>
  (await call('GET', `/tickets/${number}`)).body.statusCategory

const reply = ({ call }: Desk, number: number, content = 'We look at it.') =>
  call('POST', `/tickets/${number}/messages`, { type: 'reply', content, authorEmail: 'ANN@example.com' })

const CATEGORIES = ['new', 'on_you', 'on_customer', 'on_hold', 'closed', 'cancelled'] as const

test('a reply moves tickets that wait for the team to the customer, and no others', async () => {
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
        [eventType, statusFrom, statusTo, doneBy.id, doneBy.email, doneBy.type],
        ['status_change', before, 'on_customer', desk.members.ann, 'ann@example.com', 'agent'],
      )
    }
  }
})

test("a customer's message moves tickets that wait for the customer to the team", async () => {
  const desk = await openDesk(service)
  for (const [at, before] of CATEGORIES.entries()) {
    const peer = `+1202555011${at}`
    const conversationId = await write(service, desk, 'Hello', peer)
    const { ticketNumber } = await desk.open({ conversationId })
    if (before !== 'new') await desk.call('PATCH', `/tickets/${ticketNumber}`, { statusCategory: before })
    // A solved ticket has ended its conversation and is continued in the next one.
    assert.equal(
      (await write(service, desk, 'Anybody?', peer)) === conversationId,
      before !== 'closed',
      before,
    )
    const moves = ['on_customer', 'on_hold', 'closed'].includes(before)
    assert.equal(await statusOf(desk, ticketNumber), moves ? 'on_you' : before, before)
    const said = await messages(desk, ticketNumber, 'reply')
    // A cancelled ticket does not get the message; only the conversation does.
    assert.deepEqual(
      said.map(({ sender, content }: { sender: { type: string }; content: string }) => [
        sender.type,
        content,
      ]),
      before === 'cancelled' ? [] : [['customer', '<p>Anybody?</p>']],
    )
  }
})

test('takeover assigns and hand-back closes the ticket; later messages of the customer go to the agent', async () => {
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

test("the assignee of a conversation's ticket has the conversation", async () => {
  const desk = await openDesk(service)
  const path = `/agents/${desk.agentId}/conversations/${await write(service, desk, 'Hello')}/takeover`
  const takeover = (memberId: string | undefined) => desk.client.request('POST', path, { memberId })
  const { ticketNumber } = (await takeover(desk.members.ann)).body.data
  assert.equal((await takeover(desk.members.bob)).status, 409)
  await desk.call('PATCH', `/tickets/${ticketNumber}`, { assigneeId: desk.members.bob })
  assert.deepEqual(
    [(await takeover(desk.members.bob)).status, (await takeover(desk.members.ann)).status],
    [200, 409],
  )
})

const conversationStatus = async (id: string): Promise<string> => {
  const { db } = service.ctx
  const row = await db.selectFrom('conversations').select('status').where('id', '=', id).executeTakeFirst()
  return row?.status ?? 'gone'
}

/** Creates a conversation in this status with an open ticket. */
async function held(desk: Desk, conversationId: string, status: 'ongoing' | 'taken_over' | 'paused') {
  const path = `/agents/${desk.agentId}/conversations/${conversationId}`
  if (status === 'taken_over')
    return (await desk.client.request('POST', `${path}/takeover`, { memberId: desk.members.ann })).body.data
  const ticket = await desk.open({ conversationId })
  if (status === 'paused') await desk.client.request('PATCH', path, { paused: true })
  return ticket
}

test('closing ends a conversation of the agent or of a person; cancelling only one of a person', async () => {
  const desk = await openDesk(service)
  const sayByApi = async (): Promise<string> => {
    const path = `/agents/${desk.agentId}/chat`
    const { body } = await desk.client.request('POST', path, { message: 'Hello', stream: false })
    return body.data.metadata.conversationId
  }
  const cases = [
    ['closed', 'ongoing', 'ended'],
    ['closed', 'taken_over', 'ended'],
    ['closed', 'paused', 'paused'],
    ['cancelled', 'ongoing', 'ongoing'],
    ['cancelled', 'taken_over', 'ended'],
    ['cancelled', 'paused', 'paused'],
  ] as const
  for (const [at, [statusCategory, before, expected]] of cases.entries()) {
    for (const conversationId of [
      await write(service, desk, 'Hello', `+1202555020${at}`),
      await sayByApi(),
    ]) {
      const { ticketNumber } = await held(desk, conversationId, before)
      const answer = await desk.call('PATCH', `/tickets/${ticketNumber}`, { statusCategory })
      assert.equal(answer.body.statusCategory, statusCategory)
      assert.equal(await conversationStatus(conversationId), expected, `${statusCategory} ${before}`)
    }
  }
})

test("closing or detaching a ticket ends a person's conversation, which no ticket would show", async () => {
  const desk = await openDesk(service)
  for (const [at, statusCategory] of (['closed', 'cancelled', 'on_hold'] as const).entries()) {
    const conversationId = await write(service, desk, 'Hello', `+1202555021${at}`)
    const { ticketNumber } = await held(desk, conversationId, 'taken_over')
    const change = { statusCategory, conversationId: null }
    assert.equal((await desk.call('PATCH', `/tickets/${ticketNumber}`, change)).body.conversationId, null)
    const expected = statusCategory === 'on_hold' ? 'taken_over' : 'ended'
    assert.equal(await conversationStatus(conversationId), expected, statusCategory)
  }
  const before = await write(service, desk, 'Hello', '+12025550220')
  const next = await write(service, desk, 'Hello', '+12025550221')
  const { ticketNumber } = await held(desk, before, 'taken_over')
  await desk.call('PATCH', `/tickets/${ticketNumber}`, { statusCategory: 'closed', conversationId: next })
  assert.deepEqual([await conversationStatus(before), await conversationStatus(next)], ['ended', 'ended'])
})

test("a customer's new message reopens a solved ticket in the new conversation", async () => {
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

test('a conversation with an open ticket does not end by idling; an ended one hands its ticket on', async () => {
  const desk = await openDesk(service)
  const first = await write(service, desk, 'Hello')
  const { ticketNumber } = await desk.open({ conversationId: first })
  const { db } = service.ctx
  const day = new Date(Date.now() - 25 * 3_600_000)
  await db.updateTable('conversations').set({ updated_at: day }).where('id', '=', first).execute()
  await endIdle(db)
  const { status } = await db
    .selectFrom('conversations')
    .select('status')
    .where('id', '=', first)
    .executeTakeFirstOrThrow()
  assert.equal(status, 'ongoing')
  await db.updateTable('conversations').set({ status: 'ended' }).where('id', '=', first).execute()
  const second = await write(service, desk, 'Still here')
  const ticket = (await desk.call('GET', `/tickets/${ticketNumber}`)).body
  assert.deepEqual([ticket.conversationId, ticket.statusCategory], [second, 'new'])
})

test('what a member did in the browser has the name of the member, and what a key did is done by the API', async () => {
  const desk = await openDesk(service)
  const bea = await memberOf(service, desk.client.accountId, 'owner')
  const conversationId = await write(service, desk, 'Hello')
  const { ticketNumber } = await desk.open({ conversationId })
  const ticket = `/agents/${desk.agentId}/helpdesk/tickets/${ticketNumber}`
  await desk.client.request('PATCH', ticket, { assigneeId: desk.members.ann })
  await bea.request('PATCH', ticket, { assigneeId: desk.members.bob })
  const talk = `/agents/${desk.agentId}/conversations/${conversationId}`
  await desk.client.request('POST', `${talk}/takeover`, { memberId: desk.members.ann })
  await bea.request('POST', `${talk}/handback`)
  const events = await messages(desk, ticketNumber, 'event')
  assert.deepEqual(
    events.map(({ metadata }: { metadata: Record<string, { name: string } & string> }) => [
      metadata.eventType,
      metadata.assignedTo?.name ?? metadata.statusTo,
      metadata.doneBy?.name,
    ]),
    [
      ['assign', 'ann', 'API'],
      ['assign', 'bob', 'owner'],
      ['status_change', 'on_you', 'ann'],
      ['assign', 'ann', 'ann'],
      ['status_change', 'closed', 'owner'],
    ],
  )
})
