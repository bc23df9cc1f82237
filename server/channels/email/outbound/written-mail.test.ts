import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type MailServer, startMailServer } from '../../../../test/fakes/mail-server.ts'
import { connectTestMailbox, headerOf, mail, type TestMailbox } from '../../../../test/mailbox.ts'
import { type Client, type Service, startService } from '../../../../test/start.ts'
import { until } from '../../../../test/until.ts'
import { createMember } from '../../../accounts/records/members.ts'
import { keepAttachment } from '../../../conversations/attachments/attachments.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import { readMail } from '../parse/read-mail.ts'

let service: Service
let client: Client
let server: MailServer
let box: TestMailbox

const author = { authorEmail: 'tom@shop.example' }

before(async () => {
  server = await startMailServer()
  service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1' })
  client = await service.account()
  const account = { id: client.accountId, plan: 'unlimited' }
  await createMember(service.ctx.db, account, { email: 'tom@shop.example', name: 'Tom' })
  box = await connectTestMailbox(service, client, { smtpPort: server.port, mode: 'tickets' })
})
after(async () => {
  await service.close()
  await server.close()
})

const desk = () => `/agents/${box.agentId}/helpdesk`
const messagesOf = async (number: number) =>
  (await client.request('GET', `${desk()}/tickets/${number}/messages`)).body.data
const ticketOf = (subject: string): Promise<number> =>
  until(`the ticket ${subject}`, async () => {
    const { body } = await client.request('GET', `${desk()}/tickets`)
    const found = body.data.find((one: { subject: string }) => one.subject === subject)
    return found && (await messagesOf(found.ticketNumber)).length > 0 ? found.ticketNumber : null
  })
const lastMail = async () => {
  await box.send()
  const last = server.mails.at(-1)
  assert.ok(last)
  return { to: last.to, raw: last.raw, read: await readMail(Buffer.from(last.raw, 'latin1')) }
}

test('a member writes to somebody, with the signature, and the answer comes to the ticket', async () => {
  const settings = { signature: '{{author.name}} of {{agent.name}}' }
  assert.equal((await client.request('PUT', `${desk()}/settings`, settings)).status, 200)
  const wrong = await client.request('PUT', `${desk()}/settings`, { signature: '{{author.nam}}' })
  assert.match(wrong.body.error.details.signature, /author\.nam.* is not known/)
  const body = {
    to: ['Eve@example.com'],
    name: 'Eve',
    subject: 'Your order',
    content: 'It is **ready**.',
    ...author,
  }
  const made = await client.request('POST', `${desk()}/mails`, body)
  assert.equal(made.status, 201, JSON.stringify(made.body))
  const { ticketNumber, customer, statusCategory, channel } = made.body
  assert.deepEqual(
    [customer.email, customer.name, statusCategory, channel],
    ['eve@example.com', 'Eve', 'on_customer', 'email'],
  )
  const { to, raw, read } = await lastMail()
  assert.deepEqual([to, read.subject], [['eve@example.com'], 'Your order'])
  assert.match(raw, /-- \r?\nTom of Shop/)
  assert.deepEqual((await messagesOf(ticketNumber))[0].contentText, 'It is **ready**.')

  const quoted = `Great, when?\n\n> It is ready.\n>\n> -- \n> Tom of Shop`
  await box.receive(
    mail(quoted, { From: 'eve@example.com', 'In-Reply-To': headerOf(raw, 'Message-ID') ?? '' }),
  )
  const messages = await until('the answer', async () => {
    const all = await messagesOf(ticketNumber)
    return all.length === 2 ? all : null
  })
  assert.equal(messages[1].contentText, 'Great, when?')
})

test('a message is forwarded with its files; the customer stays, and an answer goes to the team', async () => {
  const boundary = 'b1'
  const parts = [
    `--${boundary}\r\nContent-Type: text/plain\r\n\nThe lamp is broken.`,
    `--${boundary}\r\nContent-Type: text/csv; name=a.csv\r\nContent-Disposition: attachment; filename=a.csv\r\n\n1,2`,
    `--${boundary}--`,
  ]
  await box.receive(
    mail(parts.join('\r\n').replaceAll('\r\n\n', '\r\n\r\n'), {
      Subject: 'Broken lamp',
      'Content-Type': `multipart/mixed; boundary=${boundary}`,
    }),
  )
  const number = await ticketOf('Broken lamp')
  const [first] = await messagesOf(number)
  const path = `${desk()}/tickets/${number}/forward`
  const sent = await client.request('POST', path, {
    to: ['factory@example.net'],
    note: 'Can you help?',
    messageId: first.id,
    ...author,
  })
  assert.equal(sent.status, 201, JSON.stringify(sent.body))
  assert.deepEqual([sent.body.type, sent.body.metadata.delivery.status], ['note', 'queued'])
  const { to, raw, read } = await lastMail()
  assert.deepEqual([to, read.subject], [['factory@example.net'], 'Fwd: Broken lamp'])
  assert.deepEqual(
    read.files.map(({ name }) => name),
    ['a.csv'],
  )
  assert.match(raw, /Can you help\?/)
  assert.match(raw, /The lamp is broken\./)
  const ticket = (await client.request('GET', `${desk()}/tickets/${number}`)).body
  assert.equal(ticket.customer.email, 'ann@example.com')
  const listed = await messagesOf(number)
  assert.equal(listed.at(-1).metadata.delivery.status, 'sent')

  const id = headerOf(raw, 'Message-ID') ?? ''
  await box.receive(
    mail('Send it to us.', {
      From: 'factory@example.net',
      Subject: 'Re: Fwd: Broken lamp',
      'In-Reply-To': id,
    }),
  )
  const other = await ticketOf('Re: Fwd: Broken lamp')
  const { description } = (await client.request('GET', `${desk()}/tickets/${other}`)).body
  assert.match(description, new RegExp(`forwarded from ticket #${number}`))
  assert.equal((await messagesOf(number)).length, listed.length)

  const nothing = await client.request('POST', path, { to: ['x@example.com'], messageId: 'no', ...author })
  assert.equal(nothing.body.error.code, 'RESOURCE_NOT_FOUND')
})

test('a reply can be taken back until it is sent, and is a message from then on', async () => {
  await box.receive(mail('Is it open?', { Subject: 'Opening' }))
  const number = await ticketOf('Opening')
  const path = `${desk()}/tickets/${number}/held-replies`
  const hold = (content: string, holdSeconds: number) =>
    client.request('POST', path, { content, holdSeconds, cc: ['bob@example.com'], ...author })
  const held = await hold('Yes, from nein to five.', 60)
  assert.equal(held.status, 201, JSON.stringify(held.body))
  assert.equal((await messagesOf(number)).length, 1)
  assert.deepEqual((await client.request('GET', path)).body, [held.body])
  const back = await client.request('DELETE', `${path}/${held.body.id}`)
  assert.deepEqual(
    [back.status, back.body.content, back.body.cc],
    [200, 'Yes, from nein to five.', ['bob@example.com']],
  )
  assert.equal(
    (await client.request('DELETE', `${path}/${held.body.id}`)).body.error.code,
    'RESOURCE_NOT_FOUND',
  )

  const right = await hold('Yes, from nine to five.', 1)
  const messages = await until('the reply', async () => {
    const all = await messagesOf(number)
    return all.length === 2 ? all : null
  })
  assert.equal(messages[1].contentText, 'Yes, from nine to five.')
  assert.deepEqual((await client.request('GET', path)).body, [])
  const late = await client.request('DELETE', `${path}/${right.body.id}`)
  assert.equal(late.body.error.code, 'RESOURCE_NOT_FOUND')
  assert.deepEqual((await lastMail()).to.toSorted(), ['ann@example.com', 'bob@example.com'])
})

test('a held reply shows no file of another agent', async () => {
  await box.receive(mail('Is it open on Sunday?', { Subject: 'Sunday' }))
  const path = `${desk()}/tickets/${await ticketOf('Sunday')}/held-replies`
  const other = await client.request('POST', '/agents', { name: 'Other' })
  const { db, filesDir } = service.ctx
  const file = { name: 'salaries.txt', mediaType: 'text/plain', bytes: Buffer.from('x') }
  const owner = { accountId: client.accountId, agentId: other.body.id }
  const { id } = await transact(db, (trx) => keepAttachment(filesDir, trx, owner, file))
  const reply = { content: 'See the file.', attachments: [id], holdSeconds: 60, ...author }
  const held = await client.request('POST', path, reply)
  assert.doesNotMatch(JSON.stringify(held.body), /salaries/)
  assert.doesNotMatch(JSON.stringify((await client.request('GET', path)).body), /salaries/)
})

test('a reply that cannot be sent any more waits with the reason', async () => {
  const chat = await client.request('POST', `/agents/${box.agentId}/chat`, { message: 'Hi', stream: false })
  const conversation = `/agents/${box.agentId}/conversations/${chat.body.data.metadata.conversationId}`
  const taken = await client.request('POST', `${conversation}/takeover`, { memberEmail: 'tom@shop.example' })
  const path = `${desk()}/tickets/${taken.body.data.ticketNumber}/held-replies`
  const held = await client.request('POST', path, { content: 'One moment.', holdSeconds: 2, ...author })
  assert.equal(held.status, 201)
  await client.request('POST', `${conversation}/handback`)
  const [waiting] = await until('the reason', async () => {
    const { body } = await client.request('GET', path)
    return body[0]?.error ? body : null
  })
  assert.equal(waiting.content, 'One moment.')
  const back = await client.request('DELETE', `${path}/${waiting.id}`)
  assert.equal(back.status, 200)
})

test('a new mail can be taken back until it is sent, and opens its ticket from then on', async () => {
  const path = `${desk()}/held-mails`
  const file = new FormData()
  file.set('file', new File(['1,2'], 'prices.csv'))
  const uploaded = await client.raw('POST', `${desk()}/attachments`, { body: file })
  const { id: fileId } = (await uploaded.json()) as { id: string }
  const mail = { to: ['dora@example.com'], cc: ['bob@example.com'], name: 'Dora', subject: 'Prices' }
  const hold = (content: string, holdSeconds: number) =>
    client.request('POST', path, { ...mail, content, attachments: [fileId], holdSeconds, ...author })
  const subjects = async () =>
    (await client.request('GET', `${desk()}/tickets`)).body.data.map(
      ({ subject }: { subject: string }) => subject,
    )
  const held = await hold('Hear they are.', 60)
  assert.equal(held.status, 201, JSON.stringify(held.body))
  assert.deepEqual((await client.request('GET', path)).body, [held.body])
  assert.equal((await subjects()).includes('Prices'), false)
  const { body: back } = await client.request('DELETE', `${path}/${held.body.id}`)
  assert.deepEqual(
    [back.kind, back.ticketNumber, back.to, back.cc, back.name, back.subject, back.content],
    ['mail', null, mail.to, mail.cc, 'Dora', 'Prices', 'Hear they are.'],
  )
  assert.deepEqual(
    back.attachments.map(({ name }: { name: string }) => name),
    ['prices.csv'],
  )
  assert.equal((await client.request('DELETE', `${path}/${held.body.id}`)).status, 404)

  await hold('Here they are.', 1)
  const number = await ticketOf('Prices')
  assert.equal((await messagesOf(number))[0].contentText, 'Here they are.')
  assert.deepEqual((await client.request('GET', path)).body, [])
  const { to, read } = await lastMail()
  assert.deepEqual(to.toSorted(), ['bob@example.com', 'dora@example.com'])
  assert.deepEqual(
    read.files.map(({ name }) => name),
    ['prices.csv'],
  )
})

test('a forward can be taken back until it is sent; no other way leads to it', async () => {
  await box.receive(mail('Which factory made it?', { Subject: 'Factory' }))
  const number = await ticketOf('Factory')
  const [first] = await messagesOf(number)
  const forwards = `${desk()}/tickets/${number}/held-forwards`
  const forward = { to: ['factory@example.net'], bcc: ['boss@shop.example'], messageId: first.id, ...author }
  const held = await client.request('POST', forwards, { ...forward, note: 'Yours?', holdSeconds: 60 })
  assert.equal(held.status, 201, JSON.stringify(held.body))
  assert.deepEqual(
    [held.body.kind, held.body.ticketNumber, held.body.messageId],
    ['forward', number, first.id],
  )
  // It is no reply to the customer, also not to those who take replies back.
  const replies = `${desk()}/tickets/${number}/held-replies`
  assert.deepEqual((await client.request('GET', replies)).body, [])
  assert.equal((await client.request('DELETE', `${replies}/${held.body.id}`)).status, 404)
  const stranger = await service.account()
  const other = (await stranger.request('POST', '/agents', { name: 'Other' })).body.id
  const elsewhere = `/agents/${other}/helpdesk/held-mails`
  assert.equal((await stranger.request('DELETE', `${elsewhere}/${held.body.id}`)).status, 404)
  const back = await client.request('DELETE', `${desk()}/held-mails/${held.body.id}`)
  assert.deepEqual([back.status, back.body.content, back.body.bcc], [200, 'Yours?', ['boss@shop.example']])

  await client.request('POST', forwards, { ...forward, holdSeconds: 1 })
  await until('the note', async () => (await messagesOf(number)).length === 2)
  const { to, read } = await lastMail()
  assert.deepEqual(
    [to.toSorted(), read.subject],
    [['boss@shop.example', 'factory@example.net'], 'Fwd: Factory'],
  )
  const nothing = await client.request('POST', forwards, { ...forward, messageId: 'no' })
  assert.equal(nothing.body.error.code, 'RESOURCE_NOT_FOUND')
})
