import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import { openPostgres } from '../../server/platform/db/database.ts'
import { startBreakingProxy } from '../breaking-proxy.ts'
import { connectTestMailbox, headerOf, readMailboxes, type TestMailbox } from '../mailbox.ts'
import { newKey } from '../new-key.ts'
import { startOauthProvider } from '../oauth-provider.ts'
import { ADDRESS, QUESTION, startRealMail } from '../real-mail.ts'
import { newHome, spawnService } from '../spawn-service.ts'
import { type Client, clientOf, type Service, startService } from '../start.ts'
import { trained, until } from '../until.ts'
import { memberOf } from '../workspace.ts'

/** What real mail servers do on bad days. Skipped with a sentence where Postfix and Dovecot are not installed. */
const provider = await startOauthProvider()
const real = await startRealMail({ introspectionUrl: `${provider.url}/introspect` })
const { suite, servers, within, mailsOf, deliver } = real
const MB = 1024 * 1024
let service: Service
let client: Client
let box: TestMailbox

before(async () => {
  service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1,localhost', RATE_LIMIT: '10000/10' })
})
after(async () => {
  await service.close()
  await real.close()
  provider.close()
})

const login = (user: string) => ({
  host: 'localhost',
  security: 'starttls',
  username: user,
  password: servers().password,
})
const logins = (user = 'support') => ({
  imap: { ...login(user), port: servers().ports.imap },
  smtp: { ...login(user), port: servers().ports.submission },
  authority: servers().authority,
})

let count = 0
function mail(
  text: string,
  from = 'customer@people.example',
  type = 'text/plain',
  more: Record<string, string | null> = {},
): string {
  count++
  const head = {
    From: from,
    To: ADDRESS,
    Subject: 'A question',
    Date: new Date().toUTCString(),
    'Message-ID': `<trouble-${count}.${process.pid}@people.example>`,
    'MIME-Version': '1.0',
    'Content-Type': type,
    ...more,
  }
  const lines = Object.entries(head).flatMap(([name, value]) => (value === null ? [] : [`${name}: ${value}`]))
  return `${lines.join('\r\n')}\r\n\r\n${text}\r\n`
}

const arrived = (wanted: number) =>
  until(`${wanted} mails`, async () => {
    await readMailboxes(service)
    return (await box.inbound()).length >= wanted
  })

async function connect(more: Record<string, unknown> = {}): Promise<void> {
  await service.ctx.db.deleteFrom('email_connections').execute()
  await real.empty(['support', 'customer', 'billing', 'full'])
  box = await connectTestMailbox(service, client, { smtpPort: 0, address: ADDRESS, ...logins(), ...more })
  const source = { type: 'text', name: 'Kettle', content: 'The warranty of the kettle is two years.' }
  const { body } = await client.request('POST', `/agents/${box.agentId}/sources`, source)
  await trained(service, body.id)
}

beforeEach(async () => {
  if (!suite.skip) client = await service.account()
})

const LARGE = Buffer.alloc(20 * MB, 'parley ')
function largeMail(): string {
  const lines = LARGE.toString('base64').replace(/.{76}/g, '$&\r\n')
  const parts = [
    `Content-Type: text/plain\r\n\r\n${QUESTION}\r\n`,
    `Content-Type: application/pdf; name=plan.pdf\r\nContent-Transfer-Encoding: base64\r\n\r\n${lines}\r\n`,
  ]
  const body = `${parts.map((part) => `--b\r\n${part}`).join('')}--b--`
  return mail(body, undefined, 'multipart/mixed; boundary="b"')
}

test('a mail of 20 MB is taken whole and answered', suite, async () => {
  await connect()
  await deliver(largeMail())
  await arrived(1)
  const [file] = (await box.inbound())[0]?.content.attachments ?? []
  assert.deepEqual([file?.name, file?.size], ['plan.pdf', LARGE.length])
  await until('the answer', async () => (await box.deliveries()).length === 1)
})

test(
  'a connection that breaks within a mail of 20 MB is shown, and the mail comes whole and once',
  suite,
  async () => {
    const proxy = await startBreakingProxy(servers().ports.imap)
    try {
      const { imap } = logins()
      await connect({ imap: { ...imap, port: proxy.port } })
      for (const raw of [mail('The first'), largeMail(), mail('The last')]) await deliver(raw)
      proxy.breakAfter(10 * MB)
      await until('the break', async () => {
        await readMailboxes(service)
        return proxy.broken() === 1
      })
      assert.match(
        (await connectionOf()).imap.lastError,
        /localhost closed the connection|server closed the connection/,
      )
      // The mail server may put the large mail into the mailbox after the small ones.
      assert.ok((await box.inbound()).every(({ content }) => /The (first|last)$/.test(content.text ?? '')))
      await arrived(3)
      await readMailboxes(service)
      const stored = (await box.inbound()).map(
        ({ content }) => [content.text?.split('\n\n')[1] ?? '', content.attachments?.[0]?.size ?? 0] as const,
      )
      assert.deepEqual(
        stored.toSorted(([a], [b]) => a.localeCompare(b)),
        (
          [
            ['The first', 0],
            ['The last', 0],
            [QUESTION, LARGE.length],
          ] as const
        ).toSorted(([a], [b]) => a.localeCompare(b)),
      )
      assert.equal((await connectionOf()).imap.lastError, null)
      await until('the answers', async () => (await box.deliveries()).length === 3)
    } finally {
      await proxy.close()
    }
  },
)

test('a changed UIDVALIDITY with 130 mails doubles and loses none', suite, async () => {
  await connect({ mode: 'tickets' })
  await within('support', 'INBOX', async (imap) => {
    for (let n = 0; n < 130; n++) await imap.append('INBOX', mail(`Number ${n}`, `p${n}@people.example`))
  })
  await arrived(130)
  const validity = async () =>
    String(
      (await service.ctx.db.selectFrom('email_connections').selectAll().executeTakeFirstOrThrow())
        .uid_validity,
    )
  const old = await validity()
  await servers().stopReceiving()
  for (const name of [
    'dovecot-uidlist',
    'dovecot-uidvalidity',
    'dovecot.index',
    'dovecot.index.cache',
    'dovecot.index.log',
  ])
    rmSync(join(servers().folder, 'mail', 'support', 'Maildir', name), { force: true })
  await servers().startReceiving()
  await deliver(mail('The new one', 'new@people.example'))
  await arrived(131)
  await readMailboxes(service)
  assert.notEqual(await validity(), old)
  const texts = (await box.inbound()).map(({ content }) => content.text)
  assert.deepEqual([texts.length, new Set(texts).size], [131, 131])
})

test('a mailbox is connected by OAuth 2: XOAUTH2 over IMAP and SMTP', suite, async () => {
  const owner = await memberOf(service, client.accountId, 'owner', { email: `o${count}@shop.example` })
  const agentId = (await client.request('POST', '/agents', { name: 'Shop' })).body.id
  const path = `/agents/${agentId}/email`
  const { imap, smtp, authority } = logins(ADDRESS)
  const { password: _imap, ...imapLogin } = imap
  const { password: _smtp, ...smtpLogin } = smtp
  const oauth = {
    authorizationUrl: `${provider.url}/authorize`,
    tokenUrl: `${provider.url}/token`,
    clientId: provider.clientId,
    clientSecret: provider.clientSecret,
  }
  const settings = { address: ADDRESS, mode: 'agent', plusAddressing: false, keepsSent: false, authority }
  const connection = { ...settings, imap: imapLogin, smtp: smtpLogin, oauth }
  const begun = await owner.request('POST', `${path}/oauth`, { provider: 'other', connection })
  assert.equal(begun.status, 200, JSON.stringify(begun.body))
  const back = new URL(await provider.permit(begun.body.url, ADDRESS)).searchParams
  const body = { attempt: begun.body.attempt, state: back.get('state'), code: back.get('code') }
  assert.deepEqual((await owner.request('PUT', `${path}/oauth/permission`, body)).body, {
    ok: true,
    error: null,
  })
  const tried = async () => (await client.request('POST', `${path}/connection/test`)).body
  const ok = { ok: true, error: null }
  assert.deepEqual(await tried(), { smtp: ok, imap: ok })
  // A permission that the person withdraws is refused by both servers.
  provider.withdrawAll()
  const { smtp: sending, imap: receiving } = await tried()
  assert.match(sending.error, /authentication|password|token/i)
  assert.match(receiving.error, /authentication|password|token/i)
})

test('one of two processes is killed, and 40 mails are answered once', {
  skip: suite.skip ?? (process.env.TEST_DATABASE_URL ? false : 'Two processes need PostgreSQL.'),
}, async () => {
  await within('support', 'INBOX', async (imap) => void (await imap.messageDelete('1:*').catch(() => {})))
  await within('customer', 'INBOX', async (imap) => void (await imap.messageDelete('1:*').catch(() => {})))
  const home = await newHome()
  const key = await newKey(home)
  const env = { ...home.env, ALLOWED_PRIVATE_HOSTS: '127.0.0.1,localhost', RATE_LIMIT: '10000/10' }
  const [first, second] = [await spawnService(env), await spawnService(env)]
  const owner = clientOf(first.url, key)
  const db = openPostgres(home.env.DATABASE_URL ?? '', 2)
  try {
    const agent = `/agents/${(await owner.request('POST', '/agents', { name: 'Shop' })).body.id}`
    await owner.request('PUT', agent, { aiNotice: { enabled: false } })
    const source = { type: 'text', name: 'Kettle', content: 'The warranty of the kettle is two years.' }
    const { id } = (await owner.request('POST', `${agent}/sources`, source)).body
    await until(
      'the source',
      async () => (await owner.request('GET', `${agent}/sources/${id}`)).body.status === 'trained',
    )
    const connected = await owner.request('PUT', `${agent}/email/connection`, {
      address: ADDRESS,
      ...logins(),
    })
    assert.equal(connected.status, 200, JSON.stringify(connected.body))
    for (let n = 0; n < 40; n++) {
      const from = `customer+${n}@people.example`
      await deliver(mail(`${QUESTION} I am number ${n}.`, from), from)
    }
    // What a killed process was handing over is sent once more with the same Message-ID, which mail programs drop.
    const answers = async () => {
      const mails = await mailsOf('customer')
      return [...new Map(mails.map((raw) => [headerOf(raw, 'Message-ID'), raw])).values()]
    }
    await until('the first answers', async () => (await answers()).length >= 5)
    await second.kill('SIGKILL')
    await until('all answers', async () => (await answers()).length >= 40)
    const replied = (await answers()).map((raw) => headerOf(raw, 'In-Reply-To'))
    assert.deepEqual([replied.length, new Set(replied).size], [40, 40])
    const rows = await db.db.selectFrom('deliveries').select('thread_id').execute()
    assert.deepEqual([rows.length, new Set(rows.map(({ thread_id }) => thread_id)).size], [40, 40])
  } finally {
    await db.close()
    await first.kill('SIGTERM')
    await home.remove()
  }
})

const answers = (wanted: number) =>
  until(`${wanted} answers`, async () => {
    await box.send()
    const mails = await mailsOf('customer')
    return mails.length >= wanted && mails
  })
const connectionOf = async () => (await client.request('GET', `/agents/${box.agentId}/email/connection`)).body

/** Fills the mailbox of little room until not even a small mail fits. */
const fill = () =>
  within('full', 'INBOX', async (imap) => {
    for (const size of [60_000, 30_000, 8_000, ...Array(4).fill(1_000), ...Array(8).fill(100), 1, 1, 1])
      await imap.append('INBOX', mail('x'.repeat(size)), ['\\Seen']).catch(() => {})
  })

test(
  'a mailbox without room: the writer gets a bounce, answers go out, and the team sees why none is kept',
  suite,
  async () => {
    const address = 'full@test.example'
    await connect({ address, ...logins('full'), keepsSent: true })
    await deliver(mail(QUESTION), undefined, address)
    await arrived(1)
    await until('the answer', async () => (await box.deliveries()).length === 1)
    await fill()
    const [answer] = await answers(1)
    assert.match(headerOf(answer ?? '', 'In-Reply-To') ?? '', /trouble-/)
    await until('the reason', async () => /quota/i.test((await connectionOf()).sentError ?? ''))
    await deliver(mail(`${QUESTION} Again.`), undefined, address)
    const [, bounce] = await answers(2)
    assert.match(bounce ?? '', /Quota exceeded/)
    await readMailboxes(service)
    assert.ok((await box.inbound()).every(({ content }) => !content.text?.includes('Again.')))
    // With room again, the copy follows.
    await within('full', 'INBOX', async (imap) => void (await imap.messageDelete('1:*')))
    await until('the copy', async () => (await mailsOf('full', 'Sent')).length > 0)
    await until('no reason', async () => (await connectionOf()).sentError === null)
  },
)

test('a customer whose mailbox is full: the message says that it was not delivered', suite, async () => {
  await connect()
  await deliver(mail(QUESTION, 'full@people.example'), 'full@people.example')
  await arrived(1)
  await until('the answer', async () => (await box.deliveries()).length === 1)
  await fill()
  await box.send()
  await until('the bounce', async () => {
    await readMailboxes(service)
    return (await box.deliveries())[0]?.status === 'failed'
  })
  assert.match((await box.deliveries())[0]?.error ?? '', /^It could not be delivered: Quota exceeded/)
})

test('forwards are kept among the sent mails, too', suite, async () => {
  await connect({ mode: 'tickets', keepsSent: true })
  const email = `tom${count}@shop.example`
  await memberOf(service, client.accountId, 'owner', { email })
  await deliver(mail(QUESTION))
  await arrived(1)
  const tickets = `/agents/${box.agentId}/helpdesk/tickets`
  const number = await until(
    'the ticket',
    async () => (await client.request('GET', tickets)).body.data[0]?.ticketNumber,
  )
  await until(
    'its message',
    async () => (await client.request('GET', `${tickets}/${number}/messages`)).body.data.length > 0,
  )
  const body = { to: ['billing@test.example'], authorEmail: email }
  const forwarded = await client.request('POST', `${tickets}/${number}/forward`, body)
  assert.equal(forwarded.status, 201, JSON.stringify(forwarded.body))
  const [got] = await until('the forward', async () => {
    await box.send()
    const mails = await mailsOf('billing')
    return mails.length > 0 && mails
  })
  const kept = await until('the copy', async () => {
    const mails = await mailsOf('support', 'Sent')
    return mails.find((raw) => /^Subject: Fwd: /m.test(raw))
  })
  assert.equal(headerOf(kept, 'Message-ID'), headerOf(got ?? '', 'Message-ID'))
  assert.match(kept, /How long is the warranty/)
})

test('copies, repeated ids and strange heads lose and double nothing', suite, async () => {
  await connect()
  const twice = mail(QUESTION)
  for (const to of [ADDRESS, 'sales@test.example']) await deliver(twice, undefined, to)
  await arrived(1)
  const one = { 'Message-ID': '<one-id@people.example>' }
  for (const words of ['I am Ben.', 'I am Cleo.'])
    await deliver(mail(`${QUESTION} ${words}`, 'customer@people.example', 'text/plain', one))
  const references = Array.from({ length: 400 }, (_, n) => `<old-${n}@people.example>`)
  await deliver(
    mail(QUESTION, 'customer+400@people.example', 'text/plain', {
      'In-Reply-To': references.at(-1) ?? '',
      References: references.join('\r\n '),
    }),
  )
  await deliver(
    mail(QUESTION, 'customer+none@people.example', 'text/plain', { 'Message-ID': null, Date: null }),
  )
  await deliver(
    mail(QUESTION, 'customer+bcc@people.example', 'text/plain', { To: 'undisclosed-recipients:;' }),
  )
  await deliver(mail('', 'customer+subject@people.example', 'text/plain', { Subject: QUESTION }))
  await deliver(mail(QUESTION, 'customer+a@people.example, customer+b@people.example'))
  await deliver(mail(QUESTION, '"customer b"@people.example'))
  await deliver(mail(QUESTION, 'Jörg <jörg@bücher.example>'))
  await arrived(10)
  await readMailboxes(service)
  assert.equal((await box.inbound()).length, 10)
  const received = await answers(8)
  const referring = received.find((raw) => /^To: .*customer\+400@/m.test(raw)) ?? ''
  assert.match(headerOf(referring, 'In-Reply-To') ?? '', /trouble-/)
  assert.ok((headerOf(referring, 'References') ?? '').split(' ').length <= 20)
  assert.ok(received.some((raw) => headerOf(raw, 'In-Reply-To') === '<one-id@people.example>'))
})

test(
  'what is deleted, moved away or moved back while nobody looks is answered at most once',
  suite,
  async () => {
    await connect()
    await readMailboxes(service)
    const ids = await within('support', 'INBOX', async (imap) => {
      const found: string[] = []
      for (const n of [1, 2, 3, 4]) {
        const id = `<stopped-${n}.${process.pid}@people.example>`
        await imap.append(
          'INBOX',
          mail(`${QUESTION} ${n}`, `customer+${n}@people.example`, 'text/plain', { 'Message-ID': id }),
        )
        found.push(id)
      }
      await imap.mailboxCreate('Archive').catch(() => {})
      await imap.messageDelete({ header: { 'message-id': String(found[0]) } })
      await imap.messageMove({ header: { 'message-id': String(found[1]) } }, 'Archive')
      return found
    })
    await arrived(2)
    await answers(2)
    const move = (from: string, to: string) =>
      within(
        'support',
        from,
        async (imap) => void (await imap.messageMove({ header: { 'message-id': String(ids[2]) } }, to)),
      )
    await move('INBOX', 'Archive')
    await readMailboxes(service)
    await move('Archive', 'INBOX')
    await deliver(mail(QUESTION, 'customer+last@people.example'))
    await arrived(3)
    const received = await answers(3)
    assert.equal(new Set(received.map((raw) => headerOf(raw, 'In-Reply-To'))).size, 3)
    assert.equal((await mailsOf('customer')).length, 3)
    assert.equal((await connectionOf()).imap.lastError, null)
  },
)

test(
  'a changed password and a replaced certificate are shown, and what waited is answered after',
  suite,
  async () => {
    await connect()
    const problems = async () => {
      await readMailboxes(service)
      return (await connectionOf()).imap.lastError
    }
    assert.equal(await problems(), null)
    const old = servers().password
    await servers().changePassword('another')
    await deliver(mail(QUESTION))
    assert.match(await problems(), /refused the user name or the password/)
    const settings = { address: ADDRESS, ...logins() }
    const put = await client.request('PUT', `/agents/${box.agentId}/email/connection`, settings)
    assert.equal(put.status, 200, JSON.stringify(put.body))
    await arrived(1)
    await answers(1)
    await servers().changePassword(old)
    await client.request('PUT', `/agents/${box.agentId}/email/connection`, { address: ADDRESS, ...logins() })
    await servers().installCertificate('self-signed')
    await deliver(mail(`${QUESTION} Please.`, 'customer+2@people.example'))
    assert.match(await problems(), /has signed itself/)
    await servers().installCertificate('trusted')
    await arrived(2)
    await answers(2)
    assert.equal(await problems(), null)
  },
)
