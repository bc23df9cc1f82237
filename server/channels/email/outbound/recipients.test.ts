import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type MailServer, startMailServer } from '../../../../test/fakes/mail-server.ts'
import { type ModelServer, startModelServer } from '../../../../test/fakes/model-server.ts'
import { connectTestMailbox, headerOf, mail, type TestMailbox, VERIFIED } from '../../../../test/mailbox.ts'
import { type Client, type Service, startService } from '../../../../test/start.ts'
import { until } from '../../../../test/until.ts'
import { createMember } from '../../../accounts/records/members.ts'

let service: Service
let client: Client
let server: MailServer
let models: ModelServer

before(async () => {
  server = await startMailServer()
  models = await startModelServer()
  models.otherwise(() => ({ tokens: ['Yes, we do.'] }))
  service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1', ...models.settings })
  client = await service.account()
  const account = { id: client.accountId, plan: 'unlimited' }
  await createMember(service.ctx.db, account, { email: 'tom@shop.example', name: 'Tom' })
})
after(async () => {
  await service.close()
  await models.close()
  await server.close()
})

const connect = async (more: Record<string, unknown> = {}): Promise<TestMailbox> => {
  server.mails.length = 0
  return connectTestMailbox(service, client, { smtpPort: server.port, ...more })
}
const deliveries = (box: TestMailbox, count: number) =>
  until(`${count} deliveries`, async () => (await box.deliveries()).length === count)
const sent = async (box: TestMailbox) => {
  await box.send()
  const last = server.mails.at(-1)
  return { to: last?.to.toSorted(), cc: headerOf(last?.raw ?? '', 'Cc') ?? '', raw: last?.raw ?? '' }
}
const tickets = (box: TestMailbox) => `/agents/${box.agentId}/helpdesk/tickets`
/** The only ticket of the mailbox, once the mail was added to it. */
const ticketOf = (box: TestMailbox, messages = 1): Promise<number> =>
  until('the ticket', async () => {
    const { body } = await client.request('GET', tickets(box))
    const number = body.data[0]?.ticketNumber
    if (number === undefined) return null
    const list = await client.request('GET', `${tickets(box)}/${number}/messages`)
    return list.body.data.length >= messages ? number : null
  })
const reply = (box: TestMailbox, number: number, more: object = {}) =>
  client.request('POST', `${tickets(box)}/${number}/messages`, {
    type: 'reply',
    content: 'We do.',
    authorEmail: 'tom@shop.example',
    ...more,
  })

test("the agent's answer goes to the people of the mail, but to no mailbox of ours and to nobody who reads nothing", async () => {
  await connect({ address: 'sales@shop.example' })
  const box = await connect()
  await box.receive(
    mail('Do you ship to Austria?', {
      ...VERIFIED,
      To: 'Support <support+x@shop.example>, Bob <bob@example.com>',
      Cc: 'sales@shop.example, ANN@example.com, Carol <carol@example.com>',
    }),
  )
  await deliveries(box, 1)
  const { to, cc } = await sent(box)
  assert.deepEqual(to, ['ann@example.com', 'bob@example.com', 'carol@example.com'])
  assert.equal(cc, 'Bob <bob@example.com>, Carol <carol@example.com>')
  const [conversation] = await box.conversations()
  const path = `/agents/${box.agentId}/conversations/${conversation?.id}/mails`
  const [received, answered] = (await client.request('GET', path)).body
  assert.equal(received.from.address, 'ann@example.com')
  const { messageId: _, ...people } = answered
  assert.deepEqual(people, {
    to: [{ address: 'ann@example.com', name: 'Ann' }],
    cc: [
      { address: 'bob@example.com', name: 'Bob' },
      { address: 'carol@example.com', name: 'Carol' },
    ],
    bcc: [],
  })
})

test('an alias of the mailbox gets no copy, and a circular is answered to its sender alone', async () => {
  const box = await connect()
  await box.receive(mail('Do you ship?', { ...VERIFIED, To: 'info@shop.example', Cc: 'bob@example.com' }))
  await deliveries(box, 1)
  assert.deepEqual((await sent(box)).to, ['ann@example.com', 'bob@example.com'])
  const many = Array.from({ length: 40 }, (_, at) => `p${at}@example.com`).join(', ')
  await box.receive(mail('Do you deliver?', { ...VERIFIED, From: 'Eve <eve@example.com>', Cc: many }))
  await deliveries(box, 2)
  assert.deepEqual((await sent(box)).to, ['eve@example.com'])
})

test('the agent answers the sender alone when the sender could not be verified, or names many', async () => {
  const box = await connect()
  await box.receive(mail('Do you ship?', { Cc: 'victim@example.net' }))
  await deliveries(box, 1)
  assert.deepEqual((await sent(box)).to, ['ann@example.com'])
  // The team still sees them, and a member decides.
  const [conversation] = await box.conversations()
  const taken = await client.request(
    'POST',
    `/agents/${box.agentId}/conversations/${conversation?.id}/takeover`,
    { memberEmail: 'tom@shop.example' },
  )
  const path = `${tickets(box)}/${taken.body.data.ticketNumber}/recipients`
  assert.deepEqual((await client.request('GET', path)).body.cc, [
    { address: 'victim@example.net', name: null },
  ])

  const some = Array.from({ length: 6 }, (_, at) => `p${at}@example.com`).join(', ')
  await box.receive(mail('Do you deliver?', { ...VERIFIED, From: 'eve@example.com', Cc: some }))
  await deliveries(box, 2)
  assert.deepEqual((await sent(box)).to, ['eve@example.com'])
})

test('the agent does not answer people who are blocked or already get many mails', async () => {
  const box = await connect()
  const block = await client.request('POST', `/agents/${box.agentId}/helpdesk/blocked-senders`, {
    sender: 'blocked@example.com',
  })
  assert.equal(block.status, 201, JSON.stringify(block.body))
  for (let at = 0; at < 15; at++)
    await box.receive(mail(`Question ${at}`, { From: `p${at}@example.com`, Cc: 'busy@example.com' }))
  await box.receive(
    mail('Do you ship?', {
      ...VERIFIED,
      Cc: 'blocked@example.com, busy@example.com, Bob <bob@example.com>',
    }),
  )
  await deliveries(box, 16)
  await box.send()
  const answer = server.mails.find(({ to }) => to.includes('ann@example.com'))
  assert.deepEqual(answer?.to.toSorted(), ['ann@example.com', 'bob@example.com'])
})

test('the team sees the people of a mail, and a reply goes to all of them unless others are chosen', async () => {
  const box = await connect({ mode: 'tickets' })
  await box.receive(mail('Do you ship?', { Cc: 'Bob <bob@example.com>' }))
  const number = await ticketOf(box)
  const people = {
    to: [{ address: 'ann@example.com', name: 'Ann' }],
    cc: [{ address: 'bob@example.com', name: 'Bob' }],
  }
  const listed = await client.request('GET', `${tickets(box)}/${number}/messages`)
  assert.deepEqual(listed.body.data[0].metadata.mail, {
    from: people.to[0],
    to: [{ address: 'support@shop.example', name: null }],
    cc: people.cc,
  })
  const recipients = await client.request('GET', `${tickets(box)}/${number}/recipients`)
  assert.deepEqual(recipients.body, { channel: 'email', ...people })

  const all = await reply(box, number)
  assert.equal(all.status, 201, JSON.stringify(all.body))
  assert.deepEqual(all.body.metadata.mail, { ...people, bcc: [] })
  assert.deepEqual((await sent(box)).to, ['ann@example.com', 'bob@example.com'])

  const chosen = await reply(box, number, { cc: ['Dan@example.com'], bcc: ['boss@shop.example'] })
  assert.equal(chosen.status, 201)
  const { to, cc, raw } = await sent(box)
  assert.deepEqual([to, cc], [['ann@example.com', 'boss@shop.example', 'dan@example.com'], 'dan@example.com'])
  assert.ok(!raw.includes('boss@'))

  // The one who was added belongs to the thread, and the one of Bcc stays unknown to it.
  const id = headerOf(raw, 'Message-ID') ?? ''
  await box.receive(mail('Thanks!', { From: 'dan@example.com', 'In-Reply-To': id }))
  await ticketOf(box, 4)
  assert.equal((await box.threads()).length, 1)
})

test('recipients are checked', async () => {
  const box = await connect({ mode: 'tickets' })
  await box.receive(mail('Do you ship?'))
  const number = await ticketOf(box)
  const wrong = await reply(box, number, { cc: ['bob@example.com', 'bob at example'] })
  assert.equal(wrong.status, 400)
  assert.deepEqual(wrong.body.error.details, { 'cc.1': 'Must be an e-mail address like ann@example.com.' })
  assert.equal((await reply(box, number, { to: [] })).body.error.details.to, 'Must name somebody.')
  const chat = await client.request('POST', `/agents/${box.agentId}/chat`, { message: 'Hi', stream: false })
  const { conversationId } = chat.body.data.metadata
  const path = `/agents/${box.agentId}/conversations/${conversationId}/takeover`
  const taken = await client.request('POST', path, { memberEmail: 'tom@shop.example' })
  const refused = await reply(box, taken.body.data.ticketNumber, { cc: ['bob@example.com'] })
  assert.match(refused.body.error.details.cc, /only be chosen for a ticket whose customer is reached by mail/)
})

test('an address that the server refuses is named at the message, which the others have got', async () => {
  const box = await connect({ mode: 'tickets' })
  await box.receive(mail('Do you ship?', { Cc: 'gone@example.com' }))
  const number = await ticketOf(box)
  await reply(box, number, { to: ['gone@example.com'], cc: ['ann@example.com'] })
  server.troubles.push({ code: 550, text: 'No such user' })
  assert.deepEqual((await sent(box)).to, ['ann@example.com'])
  const listed = await client.request('GET', `${tickets(box)}/${number}/messages`)
  const { delivery } = listed.body.data[1].metadata
  assert.equal(delivery.status, 'sent')
  assert.match(delivery.error, /gone@example\.com.*No such user/)
})
