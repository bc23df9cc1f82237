import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import { keepSent } from '../../server/channels/email/outbound/keep-sent.ts'
import { createMailReader } from '../../server/channels/email/parse/mail-reader.ts'
import { connectTestMailbox, headerOf, readMailboxes, type TestMailbox } from '../mailbox.ts'
import { ADDRESS, QUESTION, startRealMail } from '../real-mail.ts'
import { type Client, type Service, startService } from '../start.ts'
import { trained, until } from '../until.ts'

/**
 * Sends the kinds of mail that often break mail handling through a real Postfix and Dovecot. Skipped with a sentence
 * where they are not installed. MAIL_CASES=/folder also sends the .eml files of a folder and reports what
 * became of each.
 */
const real = await startRealMail()
const { suite, servers, within, mailsOf, deliver } = real

let service: Service
let client: Client
let box: TestMailbox
let count = 0

before(async () => {
  service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1,localhost', RATE_LIMIT: '10000/10' })
})
after(async () => {
  await service.close()
  await real.close()
})

type Security = 'tls' | 'starttls' | 'none'
const PORTS = {
  tls: ['imaps', 'smtps'],
  starttls: ['imap', 'submission'],
  none: ['imap', 'submission'],
} as const

function logins(security: Security, more: Record<string, unknown> = {}) {
  const [imap, smtp] = PORTS[security].map((name) => servers().ports[name])
  const login = { host: 'localhost', security, username: 'support', password: servers().password, ...more }
  return { imap: { ...login, port: imap }, smtp: { ...login, port: smtp } }
}

/** Connects a new agent to the mailbox, which is emptied. */
async function connect(more: Record<string, unknown> = {}): Promise<void> {
  await service.ctx.db.deleteFrom('email_connections').execute()
  await real.empty(['support', 'customer'])
  box = await connectTestMailbox(service, client, {
    smtpPort: servers().ports.submission,
    address: ADDRESS,
    authority: servers().authority,
    ...logins('starttls'),
    ...more,
  })
}

/** Sends a mail over Postfix, and reads the mailbox until it is in a conversation. */
async function arrives(raw: string | Buffer, from?: string): Promise<void> {
  const before = (await box.inbound()).length
  await deliver(raw, from)
  await until('the mail', async () => {
    await readMailboxes(service)
    return (await box.inbound()).length > before
  })
  await until('its conversation', async () =>
    (await box.inbound()).every(({ taken_in_at }) => taken_in_at !== null),
  )
}

/** What became of the newest mail: `answered`, `team` or why it was stored silently. */
async function outcome(): Promise<string> {
  const newest = (await box.inbound()).at(-1)
  const { silent, silentBecause } = newest?.content ?? {}
  if (silentBecause !== undefined) return silentBecause
  if (silent) return 'team'
  await until('the answer', async () =>
    (await box.deliveries()).some(({ thread_id }) => thread_id === newest?.thread_id),
  )
  return 'answered'
}

type Headers = Record<string, string>

function mail(text: string, headers: Headers = {}): string {
  count++
  const all: Headers = {
    From: 'Ann Weber <customer@people.example>',
    To: ADDRESS,
    Subject: 'A question',
    Date: new Date().toUTCString(),
    'Message-ID': `<case-${count}.${process.pid}@people.example>`,
    'MIME-Version': '1.0',
    'Content-Type': 'text/plain; charset=utf-8',
    ...headers,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
  return `${lines.join('\r\n')}\r\n\r\n${text.replaceAll('\n', '\r\n')}\r\n`
}

const parts = (type: string, ...bodies: string[]): [Headers, string] => [
  { 'Content-Type': `${type}; boundary="b"` },
  `${bodies.map((body) => `--b\n${body}`).join('\n')}\n--b--`,
]
const multipart = (type: string, headers: Headers, ...bodies: string[]): string => {
  const [typed, text] = parts(type, ...bodies)
  return mail(text, { ...typed, ...headers })
}
const TEXT = `Content-Type: text/plain\n\n${QUESTION}\n`
const PIXEL = 'R0lGODlhAQABAIAAAAAAAP///ywAAAAAAQABAAACAUwAOw=='

const CASES: [what: string, make: () => string, wanted: string, from?: string][] = [
  ['a plain question', () => mail(QUESTION), 'answered'],
  [
    'a form that sends from the address of the mailbox',
    () => mail(QUESTION, { From: `"Ann Weber" <${ADDRESS}>`, 'Reply-To': 'customer@people.example' }),
    'answered',
  ],
  [
    'a group of the address of the mailbox',
    () =>
      mail(QUESTION, {
        Precedence: 'list',
        'List-Id': '<support.test.example>',
        'List-Unsubscribe': '<https://x.example>',
      }),
    'answered',
  ],
  ['a list of somebody else', () => mail('News', { 'List-Id': '<news.people.example>' }), 'list'],
  [
    'an X-Auto-Response-Suppress of a person',
    () => mail(QUESTION, { 'X-Auto-Response-Suppress': 'DR, OOF, AutoReply' }),
    'answered',
  ],
  ['an out-of-office mail', () => mail('I am away.', { 'Auto-Submitted': 'auto-replied' }), 'automatic'],
  ['a bulk mail', () => mail('Buy!', { Precedence: 'bulk' }), 'automatic'],
  ['a null return path', () => mail('Undeliverable'), 'automatic', ''],
  [
    'a receipt',
    () =>
      multipart(
        'multipart/report; report-type=disposition-notification',
        {},
        'Content-Type: text/plain\n\nRead.\n',
        'Content-Type: message/disposition-notification\n\nDisposition: manual-action/MDN-sent-manually; displayed\n',
      ),
    'automatic',
  ],
  [
    'an accepted invitation',
    () =>
      multipart(
        'multipart/alternative',
        { Subject: 'Accepted: Call' },
        'Content-Type: text/plain\n\nAnn has accepted.\n',
        'Content-Type: text/calendar; method=REPLY\n\nBEGIN:VCALENDAR\nMETHOD:REPLY\nEND:VCALENDAR\n',
      ),
    'automatic',
  ],
  [
    'a photo without words',
    () =>
      multipart(
        'multipart/mixed',
        { Subject: '' },
        `Content-Type: image/gif; name=IMG_1.gif\nContent-Transfer-Encoding: base64\n\n${PIXEL}\n`,
      ),
    'team',
  ],
  [
    'a photo with a question',
    () =>
      multipart(
        'multipart/mixed',
        {},
        TEXT,
        `Content-Type: image/gif; name=IMG_1.gif\nContent-Transfer-Encoding: base64\n\n${PIXEL}\n`,
      ),
    'answered',
  ],
  [
    'an encrypted mail',
    () =>
      multipart(
        'multipart/encrypted; protocol="application/pgp-encrypted"',
        {},
        'Content-Type: application/pgp-encrypted\n\nVersion: 1\n',
        'Content-Type: application/octet-stream\n\n-----BEGIN PGP MESSAGE-----\n\nx\n-----END PGP MESSAGE-----\n',
      ),
    'team',
  ],
  [
    'a signed mail',
    () =>
      multipart(
        'multipart/signed; protocol="application/pkcs7-signature"',
        {},
        TEXT,
        'Content-Type: application/pkcs7-signature; name=smime.p7s\nContent-Transfer-Encoding: base64\n\nMIIB\n',
      ),
    'answered',
  ],
  [
    'a picture in the HTML',
    () =>
      multipart(
        'multipart/related',
        {},
        `Content-Type: text/html\n\n<p>${QUESTION}</p><img src="cid:a@b">\n`,
        `Content-Type: image/gif; name=image001.gif\nContent-ID: <a@b>\nContent-Transfer-Encoding: base64\n\n${PIXEL}\n`,
      ),
    'answered',
  ],
  [
    'a remark about HTML in place of the text',
    () =>
      multipart(
        'multipart/alternative',
        {},
        'Content-Type: text/plain\n\nThis message is in HTML format, please use another program.\n',
        `Content-Type: text/html\n\n<p>${QUESTION}</p>\n`,
      ),
    'answered',
  ],
  [
    'a boundary that is never closed',
    () => mail(`--b\n${TEXT}`, { 'Content-Type': 'multipart/mixed; boundary="b"' }),
    'answered',
  ],
  [
    'an unnamed charset',
    () =>
      mail('Wie lange gilt die Garantie für den Kessel? How long is the warranty?', {
        'Content-Type': 'text/plain',
      }),
    'answered',
  ],
]

beforeEach(async () => {
  if (suite.skip) return
  client = await service.account()
  await connect()
  const source = {
    type: 'text',
    name: 'Kettle',
    content: 'The warranty of the kettle is two years. Shipping takes three days.',
  }
  const { body } = await client.request('POST', `/agents/${box.agentId}/sources`, source)
  await trained(service, body.id)
})

test(
  'mails of every class are answered, given to the team or stored, and answers arrive',
  suite,
  async () => {
    const found: [string, string][] = []
    let answered = 0
    for (const [what, make, , from] of CASES) {
      await arrives(make(), from)
      const result = await outcome()
      if (result === 'answered') answered++
      found.push([what, result])
      // Limits on mails of one address are not what is tried here.
      await service.ctx.db
        .updateTable('inbound_messages')
        .set({ created_at: new Date(Date.now() - 8 * 86_400_000) })
        .execute()
    }
    assert.deepEqual(
      found,
      CASES.map(([what, , wanted]) => [what, wanted]),
    )
    await box.send()
    const received = await until('the answers', async () => {
      await box.send()
      const mails = await mailsOf('customer')
      return mails.length >= answered && mails
    })
    assert.equal(received.length, answered)
    for (const raw of received) assert.match(raw, /^In-Reply-To: <case-\d+\.\d+@people\.example>/m)
  },
)

test('what is old or was answered by hand is stored silently', suite, async () => {
  // What was there before the first look is not read at all.
  await readMailboxes(service)
  await within('support', 'INBOX', async (imap) => {
    for (let n = 0; n < 20; n++)
      await imap.append(
        'INBOX',
        mail(QUESTION, { From: `p${n}@people.example` }),
        ['\\Seen', '\\Answered'],
        new Date('2023-03-06'),
      )
    await imap.append('INBOX', mail(QUESTION), ['\\Answered'])
    // A migration that keeps no dates: only the headers tell.
    const received = `from a by b; ${new Date('2023-03-06').toUTCString()}`
    await imap.append('INBOX', mail(QUESTION, { Received: received }), [])
  })
  await until('all mails', async () => {
    await readMailboxes(service)
    return (await box.inbound()).length === 22
  })
  const reasons = (await box.inbound()).map(({ content }) => content.silentBecause)
  assert.deepEqual([...new Set(reasons.slice(0, 20)), ...reasons.slice(20)], ['old', 'answered', 'old'])
  assert.deepEqual(await box.deliveries(), [])
})

test('a refused sender, an unknown recipient and an unknown host are shown', suite, async () => {
  const tried = async () =>
    (await client.request('POST', `/agents/${box.agentId}/email/connection/test`)).body
  assert.deepEqual(await tried(), { smtp: { ok: true, error: null }, imap: { ok: true, error: null } })
  await arrives(mail(QUESTION, { From: 'nobody@people.example' }))
  await outcome()
  await box.send()
  assert.match((await box.deliveries())[0]?.error ?? '', /answered: 550 5\.1\.1 .*User unknown/)
  await arrives(mail(QUESTION, { From: 'somebody@nowhere.invalid' }))
  await outcome()
  await box.send()
  await until('the bounce', async () => {
    await readMailboxes(service)
    return (await box.deliveries()).every(({ status }) => status === 'failed')
  })
  assert.match((await box.deliveries())[1]?.error ?? '', /^It could not be delivered: .*nowhere\.invalid/)
  await connect({ address: 'info@test.example' })
  assert.match((await tried()).smtp.error, /answered: 553 5\.7\.1 .*not owned by user support/)
})

test('each kind of security works, and each failure of a certificate says what to do', suite, async () => {
  const tried = async (
    security: Security,
    more: Record<string, unknown> = {},
    authority = servers().authority,
  ) => {
    const { imap, smtp } = logins(security, more)
    const body = { address: ADDRESS, imap, smtp, ...(authority && { authority }) }
    const connected = await client.request('PUT', `/agents/${box.agentId}/email/connection`, body)
    assert.equal(connected.status, 200, JSON.stringify(connected.body))
    const found = (await client.request('POST', `/agents/${box.agentId}/email/connection/test`)).body
    assert.equal(
      found.imap.error?.replace(/^.*?localhost/, ''),
      found.smtp.error?.replace(/^.*?localhost/, ''),
    )
    return found.imap.error
  }
  for (const security of ['tls', 'starttls', 'none'] as const) assert.equal(await tried(security), null)
  assert.match(await tried('tls', {}, ''), /certificate (of an|whose) authority/)
  const wrong = (from: Security, to: Security) => {
    const { imap, smtp } = logins(to)
    return client.request('PUT', `/agents/${box.agentId}/email/connection`, {
      address: ADDRESS,
      authority: servers().authority,
      imap: { ...imap, security: from },
      smtp: { ...smtp, security: from },
    })
  }
  const test = async () => {
    const { imap, smtp } = (await client.request('POST', `/agents/${box.agentId}/email/connection/test`)).body
    return [imap.error, smtp.error]
  }
  await wrong('tls', 'starttls')
  for (const error of await test())
    assert.match(error, /does not begin with TLS on this port\. Choose STARTTLS/)
  await wrong('starttls', 'tls')
  for (const error of await test()) assert.match(error, /If this port begins with TLS, choose TLS/)
  await servers().installCertificate('self-signed')
  assert.match(await tried('tls'), /has a certificate that it has signed itself/)
  await servers().installCertificate('other-name')
  assert.match(await tried('starttls'), /has a certificate for mail\.other\.example\./)
  await servers().installCertificate('expired')
  assert.match(await tried('tls'), /has a certificate that has expired/)
  await servers().installCertificate('trusted')
  assert.equal(await tried('tls'), null)
})

test('sent mails are kept in the mailbox once, and a folder that is missing is shown', suite, async () => {
  await connect({ keepsSent: true })
  await arrives(mail(QUESTION))
  await outcome()
  await box.send()
  const kept = await until('the copy', async () => {
    const mails = await mailsOf('support', 'Sent')
    return mails.length > 0 && mails
  })
  const [sent] = await mailsOf('customer')
  const idsOf = (raw = '') => ['Message-ID', 'In-Reply-To'].map((name) => headerOf(raw, name))
  assert.deepEqual(idsOf(kept[0]), idsOf(sent))
  const [delivery] = await box.deliveries()
  assert.ok(delivery)
  const again = { accountId: delivery.account_id, deliveryId: delivery.id }
  await keepSent(service.ctx, again, AbortSignal.timeout(60_000))
  assert.equal((await mailsOf('support', 'Sent')).length, 1)
  await servers().stopReceiving()
  await assert.rejects(keepSent(service.ctx, again, AbortSignal.timeout(60_000)), /refused the connection/)
  const read = async () =>
    (await client.request('GET', `/agents/${box.agentId}/email/connection`)).body.sentError
  assert.match(await read(), /refused the connection/)
  await servers().startReceiving()
  await keepSent(service.ctx, again, AbortSignal.timeout(60_000))
  assert.deepEqual([await read(), (await mailsOf('support', 'Sent')).length], [null, 1])
})

test('servers that are away for a while lose and double nothing', suite, async () => {
  await arrives(mail(QUESTION))
  await outcome()
  servers().stopSending()
  await box.send()
  assert.deepEqual(
    (await box.deliveries()).map(({ status }) => status),
    ['queued'],
  )
  await servers().startSending()
  await servers().stopReceiving()
  await deliver(mail('And how long is the shipping?'))
  await readMailboxes(service)
  await servers().startReceiving()
  await until('the second mail', async () => {
    await readMailboxes(service)
    return (await box.inbound()).length === 2
  })
  await until('both answers', async () => {
    await box.send()
    return (await mailsOf('customer')).length === 2
  })
  await box.send()
  assert.equal((await mailsOf('customer')).length, 2)
})

test('a server that tells of new mails is not asked again and again', suite, async () => {
  const reader = createMailReader(service.ctx)
  const row = () => service.ctx.db.selectFrom('email_connections').selectAll().executeTakeFirstOrThrow()
  const waits = () =>
    until('the waiting', async () => {
      const { lease_until, next_read_at } = await row()
      return lease_until !== null && next_read_at.getTime() > Date.now()
    })
  // Only this call makes it read the mailbox, and everything after it comes from the server.
  await reader.tick()
  for (const wanted of [1, 2]) {
    await waits()
    await deliver(mail(QUESTION))
    await until('the mail', async () => (await box.inbound()).length === wanted)
  }
  await waits()
  await servers().stopReceiving()
  await until('the end of the waiting', async () => (await row()).lease_until === null)
  assert.equal((await row()).imap_error, null)
  await servers().startReceiving()
  await deliver(mail(QUESTION))
  await until('the third mail', async () => {
    await service.ctx.db
      .updateTable('email_connections')
      .set({ next_read_at: new Date(0) })
      .where('lease_id', 'is', null)
      .execute()
    await reader.tick()
    return (await box.inbound()).length === 3
  })
  await waits()
  await reader.close()
  assert.equal((await row()).lease_until, null)
})

test('an answer of a colleague from a mail client pauses the agent', suite, async () => {
  await arrives(mail(QUESTION, { 'Message-ID': '<first@people.example>' }))
  await outcome()
  await arrives(
    mail('It is 4711.', {
      'In-Reply-To': '<tom@test.example>',
      References: '<first@people.example> <tom@test.example>',
    }),
  )
  assert.deepEqual(
    [await outcome(), (await box.conversations()).map(({ status }) => status)],
    ['team', ['taken_over']],
  )
})

test('the mails of a folder', {
  skip: suite.skip ?? (process.env.MAIL_CASES ? false : 'MAIL_CASES names no folder.'),
}, async (t) => {
  const folder = process.env.MAIL_CASES ?? ''
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.eml'))) {
    await arrives(readFileSync(join(folder, name)), 'customer@test.example')
    const text = (await box.inbound()).at(-1)?.content.text ?? ''
    t.diagnostic(`${name}: ${await outcome()}: ${JSON.stringify(text.slice(0, 150))}`)
    await service.ctx.db
      .updateTable('inbound_messages')
      .set({ created_at: new Date(Date.now() - 8 * 86_400_000) })
      .execute()
  }
  assert.ok((await box.inbound()).length > 0)
})
