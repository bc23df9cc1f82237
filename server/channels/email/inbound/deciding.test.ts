import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { type MailServer, startMailServer } from '../../../../test/fakes/mail-server.ts'
import { ADDRESS, connectTestMailbox, headerOf, mail, type TestMailbox } from '../../../../test/mailbox.ts'
import { type Client, type Service, startService } from '../../../../test/start.ts'
import { until } from '../../../../test/until.ts'
import { rowOf } from '../connection/connection.ts'
import { mailThreadOf } from '../outbound/mail-threads.ts'
import { takeMail } from './take-mail.ts'

let service: Service
let smtp: MailServer
let client: Client
let box: TestMailbox

before(async () => {
  smtp = await startMailServer()
  service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1', JOBS: 'on' })
})
after(async () => {
  await service.close()
  await smtp.close()
})
beforeEach(async () => {
  smtp.mails.length = 0
  client = await service.account()
  box = await connectTestMailbox(service, client, { smtpPort: smtp.port })
})

type Arrived = { receivedAt?: Date; isAnswered?: boolean }

async function take(raw: string, { receivedAt = new Date(), isAnswered = false }: Arrived = {}) {
  const agent = await service.ctx.db
    .selectFrom('email_connections')
    .selectAll()
    .where('agent_id', '=', box.agentId)
    .executeTakeFirstOrThrow()
  const row = await rowOf(service.ctx.db, { accountId: agent.account_id, agentId: box.agentId })
  assert.ok(row)
  await takeMail(service.ctx, row, { raw: Buffer.from(raw), receivedAt, isAnswered })
  return (await box.inbound()).at(-1)?.content
}
const tickets = () =>
  service.ctx.db.selectFrom('tickets').selectAll().where('agent_id', '=', box.agentId).execute()
/** Waits until the agent has answered the only mail, and returns the answer. */
async function answered() {
  await until('the answer', async () => {
    await box.send()
    return (await box.deliveries())[0]?.status === 'sent'
  })
  const [delivery] = await box.deliveries()
  const [thread] = await box.threads()
  assert.ok(thread)
  const ours = mailThreadOf(thread)?.references.at(-1) ?? ''
  return { ours, text: delivery?.content.text ?? '' }
}
const takenIn = () =>
  until('the mails are in the conversation', async () =>
    (await box.inbound()).every(({ taken_in_at }) => taken_in_at !== null),
  )
const days = (count: number) => new Date(Date.now() - count * 24 * 60 * 60_000)

test('a mail that is older than the connection, older than three days or answered is stored silently', async () => {
  const cases: [string, Arrived, string][] = [
    [mail('One'), { receivedAt: days(0.5) }, 'old'],
    [mail('Two', { Received: 'from a by b; Mon, 06 Mar 2023 11:00:00 +0000' }), {}, 'old'],
    [mail('Three'), { isAnswered: true }, 'answered'],
  ]
  for (const [raw, arrived, reason] of cases)
    assert.deepEqual((await take(raw, arrived))?.silentBecause, reason)
  await service.ctx.db
    .updateTable('email_connections')
    .set({ reads_from: days(100) })
    .execute()
  assert.equal((await take(mail('Four'), { receivedAt: days(4) }))?.silentBecause, 'old')
  assert.equal((await take(mail('Five'), { receivedAt: days(2) }))?.silent, undefined)
  assert.deepEqual(await tickets(), [])
})

test("a form that sends from the mailbox's own address is answered to the person of its Reply-To", async () => {
  const content = await take(
    mail('How long?', {
      From: `"Ben" <${ADDRESS}>`,
      'Reply-To': 'ben@example.com',
      'Message-ID': '<f@www.shop>',
    }),
  )
  assert.equal(content?.silent, undefined)
  const [thread] = await box.threads()
  assert.deepEqual(thread?.data.to, { address: 'ben@example.com', name: 'Ben' })
  assert.equal((await take(mail('Hm', { From: ADDRESS })))?.silentBecause, 'own')
})

test("a list of the mailbox's own address is the team's; other lists are not answered", async () => {
  const own = {
    Precedence: 'list',
    'List-ID': `<${ADDRESS.replace('@', '.')}>`,
    'List-Post': `<https://groups.example/post>, <mailto:${ADDRESS}>`,
    'List-Unsubscribe': '<mailto:u@groups.example>',
  }
  assert.equal((await take(mail('How long?', own)))?.silent, undefined)
  assert.equal(
    (await take(mail('Sale', { ...own, 'List-ID': '<news.example>', 'List-Post': 'NO' })))?.silentBecause,
    'list',
  )
  assert.equal(
    (await take(mail('Away', { ...own, 'Auto-Submitted': 'auto-replied' })))?.silentBecause,
    'automatic',
  )
})

test('what has no words or cannot be read goes to the team', async () => {
  await take(mail('-----BEGIN PGP MESSAGE-----\n\nabc', { Subject: 'Secret' }))
  await take(mail('x', { Subject: '', 'Content-Type': 'image/jpeg; name=a.jpg', From: 'bob@example.com' }))
  assert.equal((await tickets()).length, 2)
  assert.deepEqual(
    (await box.conversations()).map(({ status }) => status),
    ['taken_over', 'taken_over'],
  )
})

test('the agent is silent in a thread in which a colleague has answered from a mail client', async () => {
  await take(mail('How long?', { 'Message-ID': '<first@example.com>' }))
  const content = await take(
    mail('It is 4711.', {
      'In-Reply-To': '<tom@client.example>',
      References: '<first@example.com> <tom@client.example>',
    }),
  )
  assert.equal(content?.silent, true)
  assert.equal((await tickets()).length, 1)
  const ids = new Set((await box.inbound()).map(({ thread_id }) => thread_id))
  assert.equal(ids.size, 1)
})

test('a relay that replaces the id of our mail does not look like a colleague, who is noticed all the same', async () => {
  await take(mail('How long?', { 'Message-ID': '<first@example.com>' }))
  const { ours } = await answered()
  const sent = smtp.mails.find(({ raw }) => headerOf(raw, 'Message-ID') === ours)
  const references = headerOf(sent?.raw ?? '', 'References')
  const reply = (id: string, before = '') =>
    take(mail('And in Austria?', { 'In-Reply-To': id, References: `${references} ${before} ${id}` }))
  assert.equal((await reply('<0100@relay.example>'))?.silent, undefined)
  // A colleague has written once more after our mail.
  assert.equal((await reply('<tom@client.example>', ours))?.silent, true)
  assert.equal((await reply('<tom@client.example>', '<0100@relay.example>'))?.silent, true)
  assert.equal((await box.threads()).length, 1)
})

test('a reply that repeats our mail without marking it is read without it', async () => {
  await take(mail('How long is it?', { 'Message-ID': '<q@example.com>' }))
  const { ours, text } = await answered()
  const content = await take(
    mail(`And in Austria?\n\nShop, 27.11.2026 12:00:\n${text}`, {
      'In-Reply-To': ours,
    }),
  )
  assert.equal(content?.text, 'And in Austria?')
})

test('an automatic reply that does not say so is answered once in a thread', async () => {
  await take(mail('How long?', { 'Message-ID': '<a@example.com>' }))
  const { ours } = await answered()
  const reply = { 'In-Reply-To': ours }
  const first = await take(mail('I am away.', reply))
  const second = await take(mail('I am away.', reply))
  assert.deepEqual([first?.isRepetitive, first?.silent], [true, undefined])
  assert.deepEqual([second?.isRepetitive, second?.silentBecause], [true, 'repetitive'])
})

test('three mails of an address in an hour that look automatic are the last', async () => {
  for (let at = 0; at < 6; at++) await take(mail('I am away.', { Subject: 'Away', From: 'bot@example.com' }))
  const silent = (await box.inbound()).map(({ content }) => content.silentBecause ?? null)
  assert.deepEqual(silent, [null, null, null, null, 'repetitive', 'repetitive'])
})

test('where mails become tickets, a reply to a closed one reopens it and an automatic reply opens none', async () => {
  box = await connectTestMailbox(service, client, { smtpPort: smtp.port, mode: 'tickets' })
  await take(mail('My lamp is broken.', { 'Message-ID': '<lamp@example.com>' }))
  await takenIn()
  const path = `/agents/${box.agentId}/helpdesk/tickets/${(await tickets())[0]?.number}`
  await client.request('PATCH', path, { statusCategory: 'closed' })
  assert.equal((await client.request('GET', path)).body.statusCategory, 'closed')
  await take(mail('I am away.', { References: '<lamp@example.com>', 'Auto-Submitted': 'auto-replied' }))
  await takenIn()
  assert.equal((await client.request('GET', path)).body.statusCategory, 'closed')
  await take(mail('It is broken again.', { References: '<lamp@example.com>' }))
  await until(
    'the ticket is reopened',
    async () => (await client.request('GET', path)).body.statusCategory === 'on_you',
  )
  assert.equal((await tickets()).length, 1)
})
