import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type MailServer, startMailServer } from '../../../../test/fakes/mail-server.ts'
import { connectTestMailbox, headerOf, mail } from '../../../../test/mailbox.ts'
import { type Service, startService } from '../../../../test/start.ts'
import { until } from '../../../../test/until.ts'
import { createMember } from '../../../accounts/records/members.ts'

let service: Service
let server: MailServer

before(async () => {
  server = await startMailServer()
  service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1' })
})
after(async () => {
  await service.close()
  await server.close()
})

/** Creates a ticket without a conversation, whose reply has not been sent when the ticket moves. */
async function answeredTicket(statusCategory: string) {
  const client = await service.account()
  const box = await connectTestMailbox(service, client, { smtpPort: server.port })
  const account = { id: client.accountId, plan: 'unlimited' }
  await createMember(service.ctx.db, account, { email: 'ann@shop.example', name: 'Ann' })
  const tickets = `/agents/${box.agentId}/helpdesk/tickets`
  const customer = { email: 'bob@example.com' }
  await client.request('POST', tickets, { subject: 'Lamp', description: 'It is dark.', customer })
  const reply = { type: 'reply', content: 'Solved.', authorEmail: 'ann@shop.example' }
  assert.equal((await client.request('POST', `${tickets}/1/messages`, reply)).status, 201)
  await client.request('PATCH', `${tickets}/1`, { statusCategory })
  server.mails.length = 0
  await box.send()
  return { box, ticket: async () => (await client.request('GET', `${tickets}/1`)).body }
}

test('the conversation of a ticket belongs to people, unless the ticket is over before its first mail leaves', async () => {
  for (const [category, status] of [
    ['on_hold', 'taken_over'],
    ['closed', 'ended'],
    ['cancelled', 'ended'],
  ] as const) {
    const { box, ticket } = await answeredTicket(category)
    const [conversation, ...others] = await box.conversations()
    assert.deepEqual([server.mails.length, conversation?.status, others], [1, status, []], category)
    assert.equal((await ticket()).conversationId, conversation?.id)
  }
})

test('a reply to a mail of a solved ticket reopens it', async () => {
  const { box, ticket } = await answeredTicket('closed')
  const id = headerOf(server.mails[0]?.raw ?? '', 'Message-ID') ?? ''
  await box.receive(mail('Not quite.', { From: 'bob@example.com', 'In-Reply-To': id }))
  await until('the ticket', async () => (await ticket()).statusCategory === 'on_you')
  const [before, next] = await box.conversations()
  assert.deepEqual([next?.parent_conversation_id, (await ticket()).conversationId], [before?.id, next?.id])
})
