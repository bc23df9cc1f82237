import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { messageWebhook, textWebhook, webhookOf } from '../../../../test/fakes/messaging-wire.ts'
import {
  ACCOUNT,
  type MessagingHome,
  NUMBER,
  now,
  startMessagingHome,
  VERIFY,
} from '../../../../test/messaging-home.ts'
import { until } from '../../../../test/until.ts'

let home: MessagingHome
before(async () => {
  home = await startMessagingHome()
})
after(() => home.close())

const at = { account: ACCOUNT, number: NUMBER }
const hook = (query: Record<string, string>) =>
  fetch(`${home.service.url}/webhooks/messaging/${home.agentId}?${new URLSearchParams(query)}`)
const conversationOf = (from: string) =>
  home.service.ctx.db
    .selectFrom('conversations')
    .innerJoin('channel_threads', 'channel_threads.id', 'conversations.thread_id')
    .select(['conversations.id', 'conversations.status', 'conversations.source', 'parent_conversation_id'])
    .select('conversations.country')
    .where('peer', '=', `+${from}`)
    .orderBy('conversations.created_at', 'desc')
    .executeTakeFirst()
const saidBy = async (from: string, role = 'user') => {
  const rows = await home.service.ctx.db
    .selectFrom('messages')
    .innerJoin('conversations', 'conversations.id', 'messages.conversation_id')
    .innerJoin('channel_threads', 'channel_threads.id', 'conversations.thread_id')
    .select(['messages.parts', 'messages.metadata'])
    .where('peer', '=', `+${from}`)
    .where('role', '=', role as 'user')
    .orderBy('messages.created_at')
    .orderBy('messages.seq')
    .execute()
  return rows.map(({ parts, metadata }) => ({ text: (parts[0] as { text: string }).text, metadata }))
}
const count = (from: string) =>
  home.service.ctx.db
    .selectFrom('inbound_messages')
    .innerJoin('channel_threads', 'channel_threads.id', 'inbound_messages.thread_id')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('peer', '=', `+${from}`)
    .executeTakeFirstOrThrow()

test('the webhook is only confirmed with the verify token', async () => {
  const asked = { 'hub.mode': 'subscribe', 'hub.challenge': '1158201444' }
  const right = await hook({ ...asked, 'hub.verify_token': VERIFY })
  assert.deepEqual([right.status, await right.text()], [200, '1158201444'])
  for (const query of [
    { ...asked, 'hub.verify_token': 'wrong' },
    asked,
    { ...asked, 'hub.verify_token': '' },
    { ...asked, 'hub.verify_token': VERIFY, 'hub.mode': 'unsubscribe' },
    { ...asked, 'hub.verify_token': VERIFY, 'hub.challenge': '<script>' },
  ])
    assert.equal((await hook(query)).status, 401)
  const other = await fetch(
    `${home.service.url}/webhooks/messaging/nobody?${new URLSearchParams({ ...asked, 'hub.verify_token': VERIFY })}`,
  )
  assert.equal(other.status, 401)
})

test('an unsigned body, or one signed with another secret, is rejected and nothing is stored', async () => {
  const from = '15550108001'
  const body = textWebhook({ ...at, from }, 'forged', now(), 'Hi')
  assert.equal((await home.webhook(body, { secret: 'other' })).status, 401)
  assert.equal((await home.webhook(body, { agentId: 'nobody' })).status, 401)
  const url = `${home.service.url}/webhooks/messaging/${home.agentId}`
  const post = (headers: Record<string, string>, text = JSON.stringify(body)) =>
    fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: text })
  assert.equal((await post({})).status, 401)
  assert.equal((await post({ 'x-hub-signature-256': 'sha256=00' })).status, 401)
  assert.equal((await post({ 'x-hub-signature-256': `sha1=${'0'.repeat(64)}` })).status, 401)
  const large = 'x'.repeat(5 * 1_048_576)
  assert.equal((await post({ 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` }, large)).status, 413)
  assert.equal((await count(from)).n, 0)
})

test('the agent answers a message once, however often it is delivered', async () => {
  const from = '4930901820'
  for (let i = 0; i < 3; i++)
    assert.equal((await home.say('again-1', now(), 'Hello there', from)).status, 200)
  await until('the answer', async () => (await saidBy(from, 'assistant')).length > 0)
  assert.deepEqual(
    (await saidBy(from)).map(({ text }) => text),
    ['Hello there'],
  )
  const conversation = await conversationOf(from)
  assert.deepEqual([conversation?.source, conversation?.country], ['Messaging', 'DE'])
  await home.deliver()
  await home.deliver()
  const replies = home.fake.sent.filter(({ to }) => to === from)
  assert.equal(replies.length, 1)
  assert.deepEqual([replies[0]?.type, replies[0]?.body.preview_url], ['text', false])
  const [contact] = await home.service.ctx.db
    .selectFrom('contacts')
    .selectAll()
    .where('phonenumber', '=', `+${from}`)
    .execute()
  assert.equal(contact?.name, 'Pat')
})

test('messages that arrive out of order are read in the order in which they were sent', async () => {
  const from = '15550108003'
  const start = now() - 60
  for (const i of [2, 0, 3, 1]) await home.say(`order-${i}`, start + i, `Part ${i}`, from)
  await until('what they said', async () => (await saidBy(from)).length === 4)
  assert.deepEqual(
    (await saidBy(from)).map(({ text }) => text),
    ['Part 0', 'Part 1', 'Part 2', 'Part 3'],
  )
})

test('other numbers, accounts and fields are ignored', async () => {
  const from = '15550108004'
  for (const body of [
    textWebhook({ account: ACCOUNT, number: 'n-9', from }, 'a', now(), 'x'),
    textWebhook({ account: '999', number: NUMBER, from }, 'b', now(), 'x'),
    webhookOf(ACCOUNT, { event: 'APPROVED' }, 'message_template_status_update'),
    {},
    [],
  ])
    assert.equal((await home.webhook(body)).status, 200)
  assert.equal((await count(from)).n, 0)
})

test('every type of message is converted to text', async () => {
  const from = '15550108005'
  const start = now() - 100
  const parts: { type: string; [part: string]: unknown }[] = [
    { type: 'button', button: { text: 'Yes', payload: 'y' } },
    { type: 'interactive', interactive: { type: 'button_reply', button_reply: { id: '1', title: 'Red' } } },
    {
      type: 'interactive',
      interactive: { type: 'list_reply', list_reply: { id: '1', title: 'Blue', description: 'dark' } },
    },
    { type: 'location', location: { latitude: 52.5, longitude: 13.4, name: 'Office' } },
    { type: 'contacts', contacts: [{ name: { formatted_name: 'Bo' }, phones: [{ phone: '+49 1' }] }] },
    { type: 'reaction', reaction: { message_id: 'x', emoji: '👍' } },
    {
      type: 'order',
      order: { product_items: [{ product_retailer_id: 'bag', quantity: 2, item_price: 5, currency: 'EUR' }] },
    },
    { type: 'unsupported', errors: [{ code: 131051 }] },
    { type: 'hologram', hologram: { id: '1' } },
    { type: 'text', text: { body: 'bad \0 \ud800 text' } },
  ]
  for (const [i, part] of parts.entries())
    await home.webhook(messageWebhook({ ...at, from }, `type-${i}`, start + i, part))
  await until('what they said', async () => (await saidBy(from)).length === parts.length)
  assert.deepEqual(
    (await saidBy(from)).map(({ text }) => text),
    [
      'Yes',
      'Red',
      'Blue\ndark',
      'Location:\nOffice\n52.5, 13.4',
      'Contact:\nBo, +49 1',
      '[reaction: 👍]',
      'Order:\n2 × bag (5 EUR)',
      '[unsupported message]',
      '[unsupported message]',
      'bad  \ufffd text',
    ],
  )
})

test('a file is stored with its message, even if the channel fails for a while', async () => {
  const from = '15550108006'
  const png = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  )
  home.fake.files.set('m-1', { type: 'image/png', bytes: png })
  for (let i = 0; i < 4; i++) home.fake.faults.push({ path: /m-1$/, status: 503, code: 131016 })
  await home.webhook(
    messageWebhook({ ...at, from }, 'file-1', now(), {
      type: 'image',
      image: { id: 'm-1', mime_type: 'image/jpeg', caption: 'Look' },
    }),
  )
  await until('what they said', async () => (await saidBy(from)).length === 1)
  assert.equal((await saidBy(from))[0]?.text, 'Look\n[image.jpg]')
  const [note] = await until(
    'the attachment',
    async () =>
      (
        (await saidBy(from))[0]?.metadata as {
          attachments?: { id: string; type: string; size: number }[]
        } | null
      )?.attachments,
  )
  assert.deepEqual([note?.type, note?.size], ['image/png', png.byteLength])
  const row = await home.service.ctx.db
    .selectFrom('attachments')
    .selectAll()
    .where('id', '=', note?.id ?? '')
    .executeTakeFirstOrThrow()
  assert.equal(row.conversation_id, (await conversationOf(from))?.id)
})

test('a message says that its file cannot be downloaded', async () => {
  const from = '15550108007'
  await home.webhook(
    messageWebhook({ ...at, from }, 'file-2', now(), {
      type: 'document',
      document: { id: 'gone', filename: '../a/plan.pdf', mime_type: 'application/pdf' },
    }),
  )
  const text = await until(
    'the note',
    async () => (await saidBy(from)).find((message) => message.text.includes('could not'))?.text,
  )
  assert.equal(text, '[../a/plan.pdf: the file could not be fetched]')
})

test('STOP is confirmed once, is not answered, and applies until START', async () => {
  const from = '15550108008'
  const toThem = () => home.fake.sent.filter(({ to }) => to === from).map(({ body }) => body.body)
  await home.say('stop-1', now() - 9, 'Stopp', from)
  await home.say('stop-1', now() - 9, 'Stopp', from)
  await home.say('stop-2', now() - 8, 'STOP', from)
  await until('what they said', async () => (await saidBy(from)).length === 2)
  await home.deliver()
  assert.equal(toThem().length, 1)
  assert.match(toThem()[0], /keine Nachrichten mehr/)
  assert.equal((await saidBy(from, 'assistant')).length, 0)
  // A word that was sent earlier has no effect, whenever it arrives.
  await home.say('start-0', now() - 20, 'START', from)
  await home.say('start-1', now() - 5, 'START', from)
  await home.deliver()
  assert.equal(toThem().length, 2)
  await home.say('question', now() - 4, 'Hello', from)
  await until('the answer', async () => (await saidBy(from, 'assistant')).length > 0)
  await home.deliver()
  assert.equal(toThem().length, 3)
})

test('START without an earlier STOP is an ordinary message', async () => {
  const from = '15550108009'
  await home.say('start-2', now(), 'Start', from)
  await until('the answer', async () => (await saidBy(from, 'assistant')).length > 0)
})

test('a message after the end starts a new conversation that continues the old one', async () => {
  const from = '15550108010'
  await home.say('first', now() - 5, 'Hello', from)
  const old = await until('the conversation', () => conversationOf(from))
  await until('the answer', async () => (await saidBy(from, 'assistant')).length > 0)
  await home.client.request('POST', `/agents/${home.agentId}/conversations/${old.id}/end`)
  await home.say('second', now(), 'Hello again', from)
  const next = await until('the next conversation', async () => {
    const found = await conversationOf(from)
    return found?.id === old.id ? null : found
  })
  assert.equal(next.parent_conversation_id, old.id)
})

test('while the numbers are unknown, the channel is asked to send the message again', async () => {
  const from = '15550108011'
  const { db } = home.service.ctx
  await db.updateTable('messaging_accounts').set({ numbers: null, numbers_read_at: null }).execute()
  home.fake.down = true
  assert.equal((await home.say('unknown-1', now(), 'Hello', from)).status, 503)
  home.fake.down = false
  assert.equal((await home.say('unknown-1', now(), 'Hello', from)).status, 200)
  assert.equal((await count(from)).n, 1)
})

test('a number added to the account later is found', async () => {
  const from = '15550108012'
  const { db } = home.service.ctx
  home.fake.accounts.get(ACCOUNT)?.numbers.push({ id: 'n-2', phone: '+1 555-000-2222', name: 'Second' })
  await db
    .updateTable('messaging_accounts')
    .set({ numbers_read_at: new Date(0) })
    .execute()
  assert.equal(
    (await home.webhook(textWebhook({ account: ACCOUNT, number: 'n-2', from }, 'new-1', now(), 'Hi'))).status,
    200,
  )
  assert.equal((await count(from)).n, 1)
})

test('the secret of one account does not sign messages of another', async () => {
  const from = '15550108013'
  home.fake.accounts.set('222', {
    token: 'token-2',
    numbers: [{ id: 'n-3', phone: '+1 555-000-3333', name: 'Third' }],
    templates: [],
  })
  const account = (id: string, token: string, appSecret: string) => ({
    businessAccountId: id,
    accessToken: token,
    appSecret,
    verifyToken: VERIFY,
  })
  await home.client.request('PUT', `/agents/${home.agentId}/messaging/connection`, {
    accounts: [account(ACCOUNT, 'token-1', 'app-secret'), account('222', 'token-2', 'second-secret')],
    baseUrl: home.fake.url,
  })
  const body = textWebhook({ account: '222', number: 'n-3', from }, 'cross-1', now(), 'Hi')
  assert.equal((await home.webhook(body)).status, 200)
  assert.equal((await count(from)).n, 0)
  assert.equal((await home.webhook(body, { secret: 'second-secret' })).status, 200)
  assert.equal((await count(from)).n, 1)
})

test('the brand is only named in the folder of its adapter, and where an adapter is chosen', async () => {
  const { readdir, readFile } = await import('node:fs/promises')
  const folder = fileURLToPath(new URL('..', import.meta.url))
  const files = (await readdir(folder, { recursive: true })).filter(
    (file) => /(?<!\.test)\.ts$/.test(file) && !/^whatsapp\/|^connection\/choose-adapter\.ts$/.test(file),
  )
  assert.ok(files.length > 20)
  for (const name of files) {
    const text = await readFile(`${folder}${name}`, 'utf8')
    assert.doesNotMatch(text, /whatsapp|facebook|meta /i, name)
  }
})
