import assert from 'node:assert/strict'
import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type MailServer, startMailServer } from '../../../../test/fakes/mail-server.ts'
import { ADDRESS, connectTestMailbox, headerOf, mail } from '../../../../test/mailbox.ts'
import { type Client, type Service, startService } from '../../../../test/start.ts'
import { channelsAreQuiet } from '../../../../test/take-in.ts'
import { until } from '../../../../test/until.ts'
import { processInbound } from '../../inbound/process-inbound.ts'

let service: Service
let client: Client
let server: MailServer

before(async () => {
  server = await startMailServer()
  service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1' })
  client = await service.account()
})
after(async () => {
  await service.close()
  await server.close()
})

const connect = (more: Record<string, unknown> = {}) =>
  connectTestMailbox(service, client, { smtpPort: server.port, plusAddressing: true, ...more })

test('a mail becomes a message of a conversation with its sender; a repeated mail does not', async () => {
  const box = await connect()
  const raw = mail('Where is my order?\n\nAm 05.01.26 um 09:14 schrieb Shop:\n> Hallo')
  const posted = await Promise.all([box.post(raw), box.post(raw), box.post(raw)])
  assert.deepEqual(
    posted.map(({ status }) => status),
    [200, 200, 200],
  )
  await until('the message', async () => (await box.said()).length > 0)
  assert.equal((await box.said())[0], 'user: A question\n\nWhere is my order?')
  const [conversation] = await box.conversations()
  assert.deepEqual(
    [conversation?.source, conversation?.user_id, (await box.inbound()).length, (await box.threads()).length],
    ['Email', 'ann@example.com', 1, 1],
  )
  // On another route, the same mail gets other headers.
  await box.receive(`Received: from elsewhere\r\n${raw}`)
  assert.equal((await box.inbound()).length, 1)
})

test('two different mails with the same Message-ID are both kept, and so are mails without one', async () => {
  const box = await connect()
  const same = { 'Message-ID': '<always@scanner.example>' }
  for (const text of ['Page one', 'Page two']) await box.receive(mail(text, same))
  const bare = 'From: bob@example.com\r\nSubject: x\r\n\r\nHello\r\n'
  await box.receive(bare)
  await box.receive(bare)
  await box.receive(bare.replace('Hello', 'Bye'))
  assert.equal((await box.inbound()).length, 4)
})

test('the webhook only accepts the secret, for this body, at this time', async () => {
  const box = await connect()
  const raw = mail('x')
  const now = Math.floor(Date.now() / 1000)
  const wrong: Record<string, string>[] = [
    { 'x-signature': 'a'.repeat(64) },
    { 'x-signature': '' },
    { 'x-signature': 'zz' },
    { 'x-timestamp': String(now - 301) },
    { 'x-timestamp': String(now + 400) },
    { 'x-timestamp': 'soon' },
  ]
  for (const headers of wrong) {
    const answer = await box.post(raw, headers)
    const { error } = (await answer.json()) as { error: { code: string } }
    assert.deepEqual([answer.status, error.code], [401, 'WEBHOOK_SIGNATURE_INVALID'], JSON.stringify(headers))
  }
  const other = await connect()
  await service.ctx.db
    .updateTable('email_connections')
    .set({ inbound_secret: null })
    .where('agent_id', '=', other.agentId)
    .execute()
  assert.equal((await other.post(raw)).status, 401)
  assert.equal((await box.inbound()).length, 0)
  const json = await box.post(raw, { 'content-type': 'application/json' })
  assert.equal(json.status, 415)
})

test('a file of 25 MB is accepted; larger ones are listed but left out; an oversized mail is rejected', async () => {
  const box = await connect()
  const withFiles = (...sizes: number[]) => {
    const files = sizes.map(
      (size, at) =>
        `--x\r\nContent-Type: application/octet-stream; name=file${at}.bin\r\nContent-Transfer-Encoding: base64\r\n\r\n${Buffer.alloc(size, at + 1).toString('base64')}\r\n`,
    )
    return mail(`--x\r\nContent-Type: text/plain\r\n\r\nSee\r\n${files.join('')}--x--`, {
      'Content-Type': 'multipart/mixed; boundary=x',
    })
  }
  const MB = 1024 * 1024
  await box.receive(withFiles(25 * MB))
  const [first] = await box.inbound()
  assert.deepEqual(
    first?.content.attachments.map(({ name, size }) => [name, size]),
    [['file0.bin', 25 * MB]],
  )
  const kept = await service.ctx.db
    .selectFrom('attachments')
    .select('path')
    .where('agent_id', '=', box.agentId)
    .executeTakeFirstOrThrow()
  let bytes = 0
  for await (const chunk of createReadStream(join(service.ctx.filesDir, kept.path))) bytes += chunk.length
  assert.equal(bytes, 25 * MB)
  await box.receive(withFiles(2 * MB, 24 * MB))
  const [, second] = await box.inbound()
  assert.equal(second?.content.attachments.length, 1)
  assert.match(second?.content.text ?? '', /too large: file1\.bin/)
  // One sender may send at most 200 MB a day.
  await service.ctx.db
    .updateTable('attachments')
    .set({ size: 100 * MB })
    .where('agent_id', '=', box.agentId)
    .execute()
  await box.receive(withFiles(1))
  const third = (await box.inbound()).at(-1)
  assert.equal(third?.content.attachments.length, 0)
  assert.match(third?.content.text ?? '', /file0\.bin was left out\. This sender/)
  const large = await box.post(Buffer.alloc(41 * MB, 'x'))
  assert.deepEqual(
    [large.status, ((await large.json()) as { error: { code: string } }).error.code],
    [413, 'VALIDATION_BODY_TOO_LARGE'],
  )
})

test('an unreadable mail is kept for the team and is not answered', async () => {
  const box = await connect()
  await box.receive('\0\0 no mail at all')
  const [message] = await box.inbound()
  assert.equal(message?.content.silent, true)
  assert.deepEqual(
    message?.content.attachments.map(({ name }) => name),
    ['message.eml'],
  )
})

test('automatic mails are kept and shown but never answered', async () => {
  const box = await connect()
  await box.receive(mail('I am away.', { 'Auto-Submitted': 'auto-replied' }))
  await box.receive(mail('Looped', { From: ADDRESS }))
  await until('both', async () => (await box.said()).length === 2)
  assert.deepEqual(
    (await box.inbound()).map(({ content }) => content.silent),
    [true, true],
  )
  await channelsAreQuiet(service, box.agentId)
  assert.deepEqual(await box.deliveries(), [])
})

test('a mail is assigned to the right thread', async () => {
  const box = await connect()
  await box.receive(mail('First', { 'Message-ID': '<first@example.com>', Cc: 'bob@example.com' }))
  await until('the answer', async () => (await box.deliveries()).length === 1)
  await box.send()
  const answer = server.mails.find(({ raw }) => raw.includes('<first@example.com>'))?.raw ?? ''
  const id = headerOf(answer, 'Message-ID') ?? ''
  const replyTo = /<([^>]+)>/.exec(headerOf(answer, 'Reply-To') ?? '')?.[1] ?? ''
  assert.match(replyTo, /^support\+[a-z2-7]{28}@shop\.example$/)
  const forged = replyTo.replace(/(.)@/, (_, last) => `${last === 'a' ? 'b' : 'a'}@`)
  /** The mail → whether it is added to the first thread */
  const cases: [string, Record<string, string>, boolean][] = [
    ['an answer to our mail', { 'In-Reply-To': id }, true],
    [
      'an answer further down',
      { 'In-Reply-To': '<x@y>', References: `<first@example.com> ${id} <x@y>` },
      true,
    ],
    ['another mail after the own one', { References: '<first@example.com>' }, true],
    ['a mail to the marked address', { To: replyTo.toUpperCase() }, true],
    [
      'somebody whom the first mail named',
      { From: 'bob@example.com', 'In-Reply-To': '<first@example.com>' },
      true,
    ],
    ['the same person and subject alone', { Subject: 'Re: A question' }, false],
    ['a stranger with our Message-ID', { From: 'eve@evil.example', 'In-Reply-To': id }, false],
    ['a stranger with the marked address', { From: 'eve@evil.example', To: replyTo }, false],
    [
      'a stranger with the first Message-ID',
      { From: 'eve@evil.example', References: '<first@example.com>' },
      false,
    ],
    [
      'somebody whom our server doubts',
      { 'In-Reply-To': id, 'Authentication-Results': 'mx; dmarc=fail' },
      false,
    ],
    ['our own address', { From: ADDRESS, 'In-Reply-To': '<first@example.com>' }, false],
    ['a mark that was made up', { To: forged }, false],
    [
      'a Message-ID that was made up',
      { 'In-Reply-To': id.replace(/\.([a-z2-7])/, (_, first) => (first === 'q' ? '.r' : '.q')) },
      false,
    ],
  ]
  for (const [what, headers, belongs] of cases) {
    const before = await box.threads()
    await box.receive(mail(what, headers))
    const threads = await box.threads()
    assert.equal(threads.length - before.length, belongs ? 0 : 1, what)
    const newest = (await box.inbound()).at(-1)
    assert.equal(newest?.thread_id === before[0]?.id, belongs, what)
  }
  // A stranger's mail changes nobody else's thread.
  const [thread] = await box.threads()
  assert.deepEqual(thread?.data.to, { address: 'ann@example.com', name: 'Ann' })
  // Somebody whom the first mail named is answered when they write.
  assert.equal(thread?.data.alsoTo, 'bob@example.com')
})

test("a mail that fails its own domain's policy is not answered, and the team gets a ticket", async () => {
  const box = await connect()
  await box.receive(mail('Send me the invoice.', { 'Authentication-Results': 'mx; dmarc=fail' }))
  const [inbound] = await box.inbound()
  assert.equal(inbound?.content.silent, true)
  const { body } = await client.request('GET', `/agents/${box.agentId}/helpdesk/tickets`)
  assert.equal(body.data.length, 1)
})

test('a sender who never stops is no longer answered', async () => {
  const box = await connect({ mode: 'tickets' })
  for (let count = 0; count < 17; count++)
    await box.receive(mail(`Again ${count}`, { Subject: `No ${count}` }))
  assert.deepEqual(
    (await box.inbound()).map(({ content }) => content.silent === true),
    Array.from({ length: 17 }, (_, at) => at >= 15),
  )
})

test('nor is an address to which the answers to many senders are directed', async () => {
  const box = await connect({ mode: 'tickets' })
  for (let count = 0; count < 16; count++) {
    const headers = { From: `ann${count}@example.com`, 'Reply-To': 'victim@example.com' }
    await box.receive(mail(`Again ${count}`, headers))
  }
  assert.deepEqual(
    (await box.inbound()).map(({ content }) => content.silent === true),
    Array.from({ length: 16 }, (_, at) => at >= 15),
  )
})

test('tickets by mail go to the team at once, the team answers in the thread, and the agent is silent', async () => {
  const box = await connect({ mode: 'tickets' })
  await box.receive(mail('It is broken.', { Subject: 'Lamp', 'Message-ID': '<lamp@example.com>' }))
  const said = await until('the message', async () => (await box.said()).length > 0 && box.said())
  assert.deepEqual(said, ['user: Lamp\n\nIt is broken.'])
  await box.receive(mail('Still broken.', { 'In-Reply-To': '<lamp@example.com>' }))
  await until('the second', async () => (await box.said()).length === 2)
  const tickets = await service.ctx.db
    .selectFrom('tickets')
    .selectAll()
    .where('agent_id', '=', box.agentId)
    .execute()
  assert.deepEqual(
    tickets.map(({ subject, channel, customer, number }) => [subject, channel, customer.email, number]),
    [['Lamp', 'email', 'ann@example.com', 1]],
  )
  const replies = await service.ctx.db
    .selectFrom('ticket_messages')
    .select('content_text')
    .where('agent_id', '=', box.agentId)
    .where('type', '=', 'reply')
    .orderBy('id')
    .execute()
  assert.deepEqual(
    replies.map(({ content_text }) => content_text),
    ['Lamp\n\nIt is broken.', 'Still broken.'],
  )
  const [conversation] = await box.conversations()
  assert.deepEqual([conversation?.status, conversation?.taken_over_by], ['taken_over', null])
  await channelsAreQuiet(service, box.agentId)
  assert.deepEqual(await box.deliveries(), [])
  for (const { id } of await box.threads()) await processInbound(service.ctx, { threadId: id })
  assert.equal((await box.said()).length, 2)
})
