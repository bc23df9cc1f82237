import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { connectTestMailbox, headerOf, readMailboxes, type TestMailbox } from '../mailbox.ts'
import { ADDRESS, QUESTION, startRealMail } from '../real-mail.ts'
import { type Client, type Service, startService } from '../start.ts'
import { trained, until } from '../until.ts'
import { memberOf } from '../workspace.ts'

/** What people and their mail clients do, through Postfix and Dovecot. */
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
beforeEach(async () => {
  if (suite.skip) return
  client = await service.account()
  await service.ctx.db.deleteFrom('email_connections').execute()
  await real.empty(['support', 'customer', 'billing'])
})

const login = () => ({
  host: 'localhost',
  security: 'starttls',
  username: 'support',
  password: servers().password,
})
const settings = () => ({
  address: ADDRESS,
  authority: servers().authority,
  imap: { ...login(), port: servers().ports.imap },
  smtp: { ...login(), port: servers().ports.submission },
})

async function connect(more: Record<string, unknown> = {}): Promise<void> {
  box = await connectTestMailbox(service, client, { smtpPort: 0, ...settings(), ...more })
  const source = { type: 'text', name: 'Kettle', content: 'The warranty of the kettle is two years.' }
  const { body } = await client.request('POST', `/agents/${box.agentId}/sources`, source)
  await trained(service, body.id)
}

function mail(text: string, more: Record<string, string> = {}): string {
  count++
  const head = {
    From: 'Ann Weber <customer@people.example>',
    To: ADDRESS,
    Subject: 'A question',
    Date: new Date().toUTCString(),
    'Message-ID': `<row-${count}.${process.pid}@people.example>`,
    'MIME-Version': '1.0',
    'Content-Type': 'text/plain; charset=utf-8',
    ...more,
  }
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}`)
  return `${lines.join('\r\n')}\r\n\r\n${text.replaceAll('\n', '\r\n')}\r\n`
}

const arrived = (wanted: number) =>
  until(`${wanted} mails`, async () => {
    await readMailboxes(service)
    return (await box.inbound()).length >= wanted
  })
const takenIn = () =>
  until('the conversations', async () =>
    (await box.inbound()).every(({ taken_in_at }) => taken_in_at !== null),
  )
const answers = (wanted: number, user = 'customer') =>
  until(`${wanted} answers`, async () => {
    await box.send()
    const mails = await mailsOf(user)
    return mails.length >= wanted && mails
  })
const tickets = async () =>
  (await client.request('GET', `/agents/${box.agentId}/helpdesk/tickets`)).body.data as {
    ticketNumber: number
    customer: { email: string }
  }[]

test(
  'replies of each kind come to one conversation, two quick ones get one answer, and all stay unread',
  suite,
  async () => {
    await connect({ plusAddressing: true })
    await deliver(mail(QUESTION))
    await arrived(1)
    const [first = ''] = await answers(1)
    assert.match(first, /^X-Auto-Response-Suppress: DR, RN, NRN, OOF, AutoReply\r$/m)
    assert.match(first, /^Auto-Submitted: auto-replied\r$/m)
    const ours = headerOf(first, 'Message-ID') ?? ''
    const references = headerOf(first, 'References') ?? ''
    const marked = /<([^>]+)>/.exec(headerOf(first, 'Reply-To') ?? '')?.[1] ?? ''
    const renamed = '<0100-abc@relay.example>'
    const replies: [string, Record<string, string>, string?][] = [
      ['By References.', { References: `${references} ${ours}` }],
      ['By In-Reply-To alone.', { 'In-Reply-To': ours }],
      ['To the marked address.', { To: marked, Subject: 'Something else' }, marked],
      [
        'To a mail that a relay has renamed.',
        { 'In-Reply-To': renamed, References: `${references} ${renamed}` },
      ],
    ]
    for (const [at, [text, headers, to]] of replies.entries()) {
      await deliver(mail(text, headers), undefined, to)
      await arrived(at + 2)
      await answers(at + 2)
      // Only the first of the replies that come at once would be answered.
      await service.ctx.db
        .updateTable('deliveries')
        .set({ updated_at: new Date(Date.now() - 120_000) })
        .execute()
    }
    for (const text of ['One more.', 'And this.']) await deliver(mail(text, { 'In-Reply-To': ours }))
    await arrived(7)
    await answers(6)
    await takenIn()
    assert.equal((await box.threads()).length, 1)
    assert.deepEqual(
      (await box.conversations()).map(({ status }) => status),
      ['ongoing'],
    )
    assert.equal((await box.deliveries()).length, 6)
    const unread = await within('support', 'INBOX', async (imap) => imap.search({ seen: false }))
    assert.equal((unread || []).length, 7)
  },
)

test(
  'where mails become tickets, forms, groups and people make them, and programs do not',
  suite,
  async () => {
    await connect({ mode: 'tickets' })
    const group = { 'List-Id': '<support.test.example>', Precedence: 'list' }
    const people: Record<string, string>[] = [
      { From: `"Ben" <${ADDRESS}>`, 'Reply-To': 'ben@people.example' },
      { ...group, From: 'cleo@people.example', 'List-Unsubscribe': '<https://x.example>' },
      {
        From: 'dora@people.example',
        'In-Reply-To': '<other@people.example>',
        'List-Unsubscribe': '<https://x.example>',
      },
      { From: 'eva@people.example', 'X-Auto-Response-Suppress': 'DR, OOF, AutoReply' },
    ]
    for (const head of people) await deliver(mail(QUESTION, head))
    await deliver(mail('I am away.', { 'Auto-Submitted': 'auto-replied' }))
    await deliver(mail('Undeliverable.'), '')
    const reports: [string, string][] = [
      ['multipart/report; report-type=disposition-notification', 'message/disposition-notification'],
      ['multipart/alternative', 'text/calendar; method=REPLY'],
    ]
    for (const [whole, part] of reports)
      await deliver(
        mail(`--b\nContent-Type: text/plain\n\nAccepted\n--b\nContent-Type: ${part}\n\nx\n--b--`, {
          'Content-Type': `${whole}; boundary=b`,
        }),
      )
    await arrived(8)
    await takenIn()
    assert.deepEqual((await tickets()).map(({ customer }) => customer.email).toSorted(), [
      'ben@people.example',
      'cleo@people.example',
      'dora@people.example',
      'eva@people.example',
    ])
  },
)

test(
  "a person's answer to a ticket goes to those in Cc as well, and the agent's to its own mailbox never",
  suite,
  async () => {
    await connect({ mode: 'tickets' })
    const email = `tom${count}@shop.example`
    await memberOf(service, client.accountId, 'owner', { email })
    await deliver(mail(QUESTION, { Cc: `billing@test.example, ${ADDRESS}` }))
    await arrived(1)
    const [ticket] = await until('the ticket', async () => {
      const found = await tickets()
      return found.length > 0 && found
    })
    const path = `/agents/${box.agentId}/helpdesk/tickets/${ticket?.ticketNumber}/messages`
    const body = { type: 'reply', content: 'Two years.', authorEmail: email }
    assert.equal((await client.request('POST', path, body)).status, 201)
    const [toCustomer = ''] = await answers(1)
    const [toOther = ''] = await answers(1, 'billing')
    for (const raw of [toCustomer, toOther]) assert.match(raw, /Two years\./)
    assert.doesNotMatch(toCustomer, /^Auto-Submitted/m)
    await readMailboxes(service)
    assert.equal((await box.inbound()).length, 1)
  },
)

test('the question is what the person wrote, whatever the client puts around it', suite, async () => {
  await connect()
  const html = (text: string, more: Record<string, string> = {}) =>
    mail(text, { 'Content-Type': 'text/html; charset=utf-8', 'In-Reply-To': '<x@test.example>', ...more })
  const signed = Buffer.from('0'.repeat(100)).toString('base64')
  const cases: [string, string][] = [
    [
      html(
        `<div>${QUESTION}</div><div name="quote" style="padding: 10px"><div><b>Gesendet:</b> Freitag, 27. November 2026</div><div><b>Von:</b> Shop &lt;${ADDRESS}&gt;</div><div>Old words</div></div>`,
      ),
      QUESTION,
    ],
    [mail(`${QUESTION}\n[cid:image001.png@01DC5F00.1]\nBest regards`), QUESTION],
    [
      mail(
        `${QUESTION}\n\n${Array.from({ length: 120 }, (_, n) => `${'>'.repeat(n + 1)} Old words ${n}`).join('\n')}`,
        {
          'In-Reply-To': '<x@test.example>',
        },
      ),
      QUESTION,
    ],
    [
      mail(signed, {
        'Content-Type': 'application/pkcs7-mime; smime-type=enveloped-data; name=smime.p7m',
        'Content-Transfer-Encoding': 'base64',
      }),
      'team',
    ],
  ]
  for (const [at, [raw, wanted]] of cases.entries()) {
    await deliver(raw)
    await arrived(at + 1)
    const content = (await box.inbound()).at(-1)?.content
    if (wanted === 'team') assert.deepEqual([content?.silent, content?.silentBecause], [true, undefined])
    else
      assert.match(
        content?.text ?? '',
        new RegExp(`^A question\\n\\n${QUESTION.replace('?', '\\?')}(\\nBest regards)?$`),
      )
    // Limits on mails of one address are not what is tried here.
    await service.ctx.db
      .updateTable('inbound_messages')
      .set({ created_at: new Date(Date.now() - 8 * 86_400_000) })
      .execute()
  }
})

test('what is moved out of the folder for spam is answered', suite, async () => {
  await connect()
  await readMailboxes(service)
  await within('support', 'INBOX', async (imap) => {
    await imap.mailboxCreate('Junk').catch(() => {})
    await imap.append('Junk', mail(QUESTION), [])
  })
  await within('support', 'Junk', async (imap) => void (await imap.messageMove('1:*', 'INBOX')))
  await arrived(1)
  await answers(1)
})

test('the test of a mailbox says what is wrong, and a second agent is refused', suite, async () => {
  await connect()
  const connection = `/agents/${box.agentId}/email/connection`
  const tried = async (imap: Record<string, unknown>) => {
    const put = await client.request('PUT', connection, {
      ...settings(),
      imap: { ...settings().imap, ...imap },
    })
    assert.equal(put.status, 200, JSON.stringify(put.body))
    return (await client.request('POST', `${connection}/test`)).body.imap.error
  }
  assert.match(await tried({ password: 'wrong' }), /refused the user name or the password/)
  assert.match(await tried({ mailbox: 'Nowhere' }), /^The mailbox Nowhere cannot be opened\./)
  assert.match(await tried({ port: 1 }), /refused the connection/)
  assert.equal(await tried({}), null)
  const other = (await client.request('POST', '/agents', { name: 'Second' })).body.id
  const refused = await client.request('PUT', `/agents/${other}/email/connection`, settings())
  assert.deepEqual([refused.status, refused.body.error.code], [409, 'RESOURCE_DUPLICATE'])
  assert.match(refused.body.error.message, /already reads this mailbox/)
})
