import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Desk, openDesk } from '../../../test/open-desk.ts'
import { type Service, startService } from '../../../test/start.ts'

let service: Service

before(async () => {
  service = await startService()
})
after(() => service.close())

const say = ({ client, agentId }: Desk, body: object) =>
  client.request('POST', `/agents/${agentId}/chat`, { stream: false, ...body })

const begin = async (desk: Desk, fields: object = {}): Promise<string> =>
  (await say(desk, { message: 'Hello', ...fields })).body.data.metadata.conversationId

const ticketOf = async ({ call }: Desk, number: number) => (await call('GET', `/tickets/${number}`)).body

const repliesOf = async ({ call }: Desk, number: number) =>
  (await call('GET', `/tickets/${number}/messages?types=reply`)).body.data

const moved = {
  new: 'new',
  on_you: 'on_you',
  on_customer: 'on_you',
  on_hold: 'on_you',
  cancelled: 'cancelled',
} as const

test("a customer's message through the API reaches its ticket and moves it to the team", async () => {
  const desk = await openDesk(service)
  for (const [before, expected] of Object.entries(moved)) {
    const conversationId = await begin(desk, { userId: `u-${before}` })
    const opened = await desk.open({ conversationId })
    if (before !== 'new')
      await desk.call('PATCH', `/tickets/${opened.ticketNumber}`, { statusCategory: before })
    assert.equal((await say(desk, { conversationId, message: 'Anybody?' })).status, 200)
    const ticket = await ticketOf(desk, opened.ticketNumber)
    assert.equal(ticket.statusCategory, expected, before)
    const replies = await repliesOf(desk, opened.ticketNumber)
    // A cancelled ticket does not get the message; only the conversation does.
    assert.deepEqual(
      replies.map(({ sender, contentText }: Record<string, unknown>) => [sender, contentText]),
      before === 'cancelled'
        ? []
        : [[{ type: 'customer', id: `u-${before}`, name: null, email: 'eve@example.org' }, 'Anybody?']],
    )
    assert.equal(ticket.lastMessageAt, replies[0]?.createdAt ?? null)
  }
})

test('a solved ticket of a paused conversation is reopened; one that was handed back is not', async () => {
  const desk = await openDesk(service)
  const conversationId = await begin(desk)
  const path = `/agents/${desk.agentId}/conversations/${conversationId}`
  const { ticketNumber } = await desk.open({ conversationId })
  await desk.client.request('PATCH', path, { paused: true })
  await desk.call('PATCH', `/tickets/${ticketNumber}`, { statusCategory: 'closed' })
  await desk.client.request('PATCH', path, { paused: false })
  await say(desk, { conversationId, message: 'Not solved' })
  assert.equal((await ticketOf(desk, ticketNumber)).statusCategory, 'on_you')

  await desk.client.request('POST', `${path}/takeover`, { memberId: desk.members.ann })
  await desk.client.request('POST', `${path}/handback`)
  await say(desk, { conversationId, message: 'And you, agent?' })
  assert.equal((await ticketOf(desk, ticketNumber)).statusCategory, 'closed')
  assert.deepEqual(
    (await repliesOf(desk, ticketNumber)).map(({ contentText }: { contentText: string }) => contentText),
    ['Not solved'],
  )
})

test('a message through version 1 does so, too', async () => {
  const desk = await openDesk(service)
  const chat = (content: string) =>
    desk.client.request('POST', '/api/v1/chat', {
      chatbotId: desk.agentId,
      conversationId: 'c1',
      messages: [{ role: 'user', content }],
    })
  assert.equal((await chat('Hello')).status, 200)
  const { id } = await service.ctx.db
    .selectFrom('conversations')
    .select('id')
    .where('agent_id', '=', desk.agentId)
    .executeTakeFirstOrThrow()
  const { ticketNumber } = await desk.open({ conversationId: id, statusCategory: 'on_hold' })
  await chat('Anybody?')
  assert.equal((await ticketOf(desk, ticketNumber)).statusCategory, 'on_you')
  assert.equal((await repliesOf(desk, ticketNumber)).length, 1)
})

test('watchers of the help desk are told; changes without a message tell nothing', async () => {
  const desk = await openDesk(service)
  const conversationId = await begin(desk)
  const { ticketNumber } = await desk.open({ conversationId })
  const answer = await say(desk, { conversationId, message: 'Anybody?' })
  const retried = await desk.client.request(
    'POST',
    `/agents/${desk.agentId}/conversations/${conversationId}/retry`,
    { messageId: answer.body.data.id, stream: false },
  )
  assert.equal(retried.status, 200)
  const [message, ...more] = await repliesOf(desk, ticketNumber)
  assert.deepEqual(more, [])
  const events = await service.ctx.db
    .selectFrom('helpdesk_events')
    .select('data')
    .where('agent_id', '=', desk.agentId)
    .where('type', '=', 'message')
    .execute()
  assert.deepEqual(events, [{ data: { ticketNumber, messageId: message.id } }])
})

test('a rejected message is not on the ticket', async () => {
  const desk = await openDesk(service)
  const conversationId = await begin(desk)
  const { ticketNumber } = await desk.open({ conversationId, statusCategory: 'on_hold' })
  await desk.client.request('PUT', `/agents/${desk.agentId}`, { creditLimit: 0 })
  const refused = await say(desk, { conversationId, message: 'Anybody?' })
  assert.equal(refused.body.error.code, 'CHAT_AGENT_CREDITS_EXHAUSTED')
  assert.deepEqual(await repliesOf(desk, ticketNumber), [])
  assert.equal((await ticketOf(desk, ticketNumber)).statusCategory, 'on_hold')
})
