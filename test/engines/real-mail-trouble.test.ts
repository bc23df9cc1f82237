import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import { ImapFlow } from 'imapflow'
import { createTransport } from 'nodemailer'
import { openPostgres } from '../../server/platform/db/database.ts'
import { type MailServers, startMailServers } from '../mail-servers.ts'
import { connectTestMailbox, headerOf, readMailboxes, type TestMailbox } from '../mailbox.ts'
import { newKey } from '../new-key.ts'
import { startOauthProvider } from '../oauth-provider.ts'
import { newHome, spawnService } from '../spawn-service.ts'
import { type Client, clientOf, type Service, startService } from '../start.ts'
import { trained, until } from '../until.ts'
import { memberOf } from '../workspace.ts'

/** What real mail servers do on bad days. Skipped with a sentence where Postfix and Dovecot are not installed. */
const provider = await startOauthProvider()
const started = await startMailServers({ introspectionUrl: `${provider.url}/introspect` })
const suite = typeof started === 'string' ? { skip: started } : {}
const servers = (): MailServers => {
  if (typeof started === 'string') throw new Error(started)
  return started
}

const ADDRESS = 'support@test.example'
const QUESTION = 'How long is the warranty?'
const MB = 1024 * 1024
let service: Service
let client: Client
let box: TestMailbox

before(async () => {
  service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1,localhost', RATE_LIMIT: '10000/10' })
})
after(async () => {
  await service.close()
  if (typeof started !== 'string') await started.close()
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

async function within<T>(user: string, folder: string, act: (imap: ImapFlow) => Promise<T>): Promise<T> {
  const imap = new ImapFlow({
    host: '127.0.0.1',
    port: servers().ports.imap,
    auth: { user, pass: servers().password },
    secure: false,
    doSTARTTLS: false,
    logger: false,
  })
  await imap.connect()
  try {
    await imap.mailboxOpen(folder)
    return await act(imap)
  } finally {
    await imap.logout().catch(() => {})
  }
}

const mailsOf = (user: string, folder = 'INBOX'): Promise<string[]> =>
  within(user, folder, async (imap) => {
    const found: string[] = []
    for await (const { source } of imap.fetch('1:*', { source: true })) found.push(String(source ?? ''))
    return found
  }).catch(() => [])

let count = 0
function mail(text: string, from = 'customer@people.example', type = 'text/plain'): string {
  count++
  const head = [
    `From: ${from}`,
    `To: ${ADDRESS}`,
    'Subject: A question',
    `Date: ${new Date().toUTCString()}`,
    `Message-ID: <trouble-${count}.${process.pid}@people.example>`,
    'MIME-Version: 1.0',
    `Content-Type: ${type}`,
  ]
  return `${head.join('\r\n')}\r\n\r\n${text}\r\n`
}

async function deliver(raw: string, from = 'customer@people.example'): Promise<void> {
  const transport = createTransport({ host: '127.0.0.1', port: servers().ports.smtp, ignoreTLS: true })
  await transport.sendMail({ envelope: { from, to: ADDRESS }, raw })
  transport.close()
}

const arrived = (wanted: number) =>
  until(`${wanted} mails`, async () => {
    await readMailboxes(service)
    return (await box.inbound()).length >= wanted
  })

async function connect(more: Record<string, unknown> = {}): Promise<void> {
  await service.ctx.db.deleteFrom('email_connections').execute()
  for (const user of ['support', 'customer', 'billing'])
    await within(user, 'INBOX', async (imap) => {
      await imap.messageDelete('1:*').catch(() => {})
    })
  box = await connectTestMailbox(service, client, { smtpPort: 0, address: ADDRESS, ...logins(), ...more })
  const source = { type: 'text', name: 'Kettle', content: 'The warranty of the kettle is two years.' }
  const { body } = await client.request('POST', `/agents/${box.agentId}/sources`, source)
  await trained(service, body.id)
}

beforeEach(async () => {
  if (typeof started !== 'string') client = await service.account()
})

test('a mail of 20 MB is taken whole and answered', suite, async () => {
  await connect()
  const bytes = Buffer.alloc(20 * MB, 'parley ')
  const lines = bytes.toString('base64').replace(/.{76}/g, '$&\r\n')
  const parts = [
    `Content-Type: text/plain\r\n\r\n${QUESTION}\r\n`,
    `Content-Type: application/pdf; name=plan.pdf\r\nContent-Transfer-Encoding: base64\r\n\r\n${lines}\r\n`,
  ]
  const body = `${parts.map((part) => `--b\r\n${part}`).join('')}--b--`
  await deliver(mail(body, undefined, 'multipart/mixed; boundary="b"'))
  await arrived(1)
  const [file] = (await box.inbound())[0]?.content.attachments ?? []
  assert.deepEqual([file?.name, file?.size], ['plan.pdf', bytes.length])
  await until('the answer', async () => (await box.deliveries()).length === 1)
})

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
    const answers = () => mailsOf('customer')
    await until('the first answers', async () => (await answers()).length >= 5)
    await second.kill('SIGKILL')
    await until('all answers', async () => (await answers()).length >= 40)
    const replied = (await answers()).map((raw) => headerOf(raw, 'In-Reply-To'))
    assert.equal(new Set(replied).size, 40)
    const rows = await db.db.selectFrom('deliveries').select('thread_id').execute()
    assert.deepEqual([rows.length, new Set(rows.map(({ thread_id }) => thread_id)).size], [40, 40])
  } finally {
    await db.close()
    await first.kill('SIGTERM')
    await home.remove()
  }
})
