import assert from 'node:assert/strict'
import { after, before, mock, test } from 'node:test'
import { type KyselyPlugin, sql } from 'kysely'
import { statusWebhook } from '../../../../test/fakes/messaging-wire.ts'
import {
  ACCOUNT,
  type MessagingHome,
  NUMBER,
  now,
  startMessagingHome,
} from '../../../../test/messaging-home.ts'
import { until } from '../../../../test/until.ts'
import { keepAttachment } from '../../../conversations/attachments/attachments.ts'
import { claimDelivery } from '../../../inbox/deliveries/claim-delivery.ts'
import { enqueueDelivery } from '../../../inbox/deliveries/enqueue-delivery.ts'
import { retryDelivery } from '../../../inbox/deliveries/settle-delivery.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import type { DeliveryContent } from '../../../platform/db/tables/deliveries.ts'
import { CUSTOMER_SENTENCES } from '../../../platform/text/languages/customer-sentences.ts'
import { accountsOf } from '../connection/connection.ts'
import { reportStatus } from '../inbound/report-status.ts'
import { whatsAppAdapter } from '../whatsapp/whatsapp-adapter.ts'
import { piecesOf, readPress } from './pieces.ts'

let home: MessagingHome
before(async () => {
  home = await startMessagingHome()
})
after(() => home.close())

let people = 0
/** Lets a customer write, and waits until the answer is sent. */
async function someone(): Promise<{ to: string; threadId: string }> {
  const to = `1555010${String(9000 + people++)}`
  await home.say(`hello-${to}`, now(), 'Hello', to)
  const threadId = await until('the answer', async () => {
    const row = await home.service.ctx.db
      .selectFrom('deliveries')
      .innerJoin('channel_threads', 'channel_threads.id', 'deliveries.thread_id')
      .select('channel_threads.id')
      .where('peer', '=', `+${to}`)
      .executeTakeFirst()
    return row?.id
  })
  await home.deliver()
  home.fake.sent.length = 0
  return { to, threadId }
}

const queue = (threadId: string, content: DeliveryContent): Promise<string> =>
  transact(home.service.ctx.db, (trx) =>
    enqueueDelivery(trx, {
      accountId: home.client.accountId,
      agentId: home.agentId,
      channel: 'messaging',
      threadId,
      conversationId: null,
      ticketId: null,
      messageId: null,
      ticketMessageId: null,
      content,
    }),
  )
const rowOf = (id: string) =>
  home.service.ctx.db.selectFrom('deliveries').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
const statusOf = async (id: string) => (await rowOf(id)).status
/** Makes the next attempt due at once. */
const pass = () =>
  home.service.ctx.db
    .updateTable('deliveries')
    .set({
      next_at: sql<Date>`now()`,
      lease_until: sql<Date>`case when lease_until is null then null else now() - interval '1 second' end`,
    })
    .where('status', 'in', ['queued', 'sending'])
    .execute()
const report = (
  status: string,
  more: { id?: string; callback?: string; error?: { code: number; title: string } },
) =>
  home.webhook(
    statusWebhook(ACCOUNT, NUMBER, [{ id: more.id ?? 'wamid.x', status, recipient: '1', ...more }]),
  )
const texts = () => home.fake.sent.map(({ body }) => body.body)

test('a long answer is sent as several messages in order without citations, and an interruption repeats none', async () => {
  const { threadId } = await someone()
  const paragraphs = Array.from({ length: 9 }, (_, i) => `P${i} [${i + 1}] ${'word '.repeat(200)}`.trim())
  const id = await queue(threadId, { text: paragraphs.join('\n\n') })
  // The provider accepts the first two and not the third.
  const fault = { path: /never/, status: 503, code: 131016 } as const
  home.fake.faults.push(fault)
  const take = setInterval(() => {
    if (home.fake.sent.length === 1) home.fake.faults.push({ path: /messages$/, status: 503, code: 131016 })
  }, 1)
  await home.deliver()
  clearInterval(take)
  home.fake.faults.length = 0
  for (let i = 0; i < 4; i++) {
    await pass()
    await home.deliver()
  }
  assert.equal(await statusOf(id), 'sent')
  assert.ok(home.fake.sent.length >= 3)
  assert.ok(texts().every((text) => text.length <= 4_096))
  const words = paragraphs
    .join(' ')
    .replace(/ \[\d\]/g, '')
    .split(/\s+/)
  assert.deepEqual(texts().join(' ').split(/\s+/), words)
})

test("links written by a model are limited to the agent's hosts; links written by people are not", async () => {
  const { threadId } = await someone()
  const text = `See [the shop](https://shop.example/a), [this](https://evil.example/?q=1), evil.example/x and ${'word '.repeat(4_000)}www.evil.example.`
  await queue(threadId, { text, linkHosts: ['shop.example'] })
  await home.deliver()
  const ofModel = texts().join('')
  assert.match(ofModel, /https:\/\/shop\.example\/a/)
  assert.doesNotMatch(ofModel, /evil\.example/)
  assert.equal(ofModel.match(/evil\[\.\]example/g)?.length, 3)
  home.fake.sent.length = 0
  await queue(threadId, { text: 'See https://evil.example/a' })
  await home.deliver()
  assert.deepEqual(texts(), ['See https://evil.example/a'])
})

test('status updates in any order and number never move a delivery back', async () => {
  const { threadId } = await someone()
  const id = await queue(threadId, { text: 'Hi' })
  await home.deliver()
  const { id: messageId, callback } = home.fake.sent[0] ?? { id: '', callback: '' }
  await report('read', { id: messageId })
  assert.equal(await statusOf(id), 'read')
  for (const status of ['delivered', 'sent', 'read']) await report(status, { id: messageId, callback })
  await report('failed', { id: messageId, callback, error: { code: 131026, title: 'x' } })
  assert.equal(await statusOf(id), 'read')
  assert.equal((await report('delivered', { id: 'unheard', callback: 'not-ours' })).status, 200)
  assert.equal(
    (await report('delivered', { id: 'unheard', callback: `${id.replace(/^..../, '0000')}.0` })).status,
    200,
  )
})

test('a status whose correlation data only looks like an id is ignored', async () => {
  const callback = `${'-'.repeat(36)}.0`
  assert.equal((await report('delivered', { id: 'unheard', callback })).status, 200)
})

test('a status locks its delivery once, and text is formatted once', async (t) => {
  const { threadId } = await someone()
  const { db, notifier, jobs, secrets } = home.service.ctx
  const plain = await queue(threadId, { text: 'Hi' })
  await home.deliver()
  const template = { name: 'hello', language: 'en', isSettled: false }
  const sending = await queue(threadId, { text: 'Hello', template })
  await db.updateTable('deliveries').set({ status: 'sending' }).where('id', '=', sending).execute()
  let locks = 0
  const counter: KyselyPlugin = {
    transformQuery({ node }) {
      if (node.kind !== 'SelectQueryNode') return node
      const locked = node.endModifiers?.some(({ modifier }) => modifier === 'ForUpdate')
      if (locked && JSON.stringify(node.from).includes('"deliveries"')) locks++
      return node
    },
    transformResult: async ({ result }) => result,
  }
  const [account] = await accountsOf({ db, secrets }, home.agentId)
  assert.ok(account)
  const formats = t.mock.method(account.adapter, 'formatText')
  const seen = []
  for (const [id, kind] of [
    [plain, 'read'],
    [sending, 'delivered'],
  ] as const) {
    const before = formats.mock.callCount()
    locks = 0
    await reportStatus({ db: db.withPlugin(counter), notifier, jobs }, account, {
      kind: 'status',
      businessAccountId: ACCOUNT,
      numberId: NUMBER,
      messageId: `wamid.${id}`,
      callback: `${id}.0`,
      recipient: null,
      to: null,
      status: kind,
      reason: null,
    })
    seen.push([await statusOf(id), locks, formats.mock.callCount() - before])
  }
  assert.deepEqual(seen, [
    ['read', 1, 1],
    ['delivered', 1, 0],
  ])
  const row = await rowOf(sending)
  assert.deepEqual([row.content.template?.isSettled, row.provider_message_id], [true, `wamid.${sending}`])
  const said = await db
    .selectFrom('messages')
    .select(['role', 'parts', 'metadata'])
    .where('id', '=', row.message_id)
    .executeTakeFirst()
  assert.deepEqual(said, {
    role: 'assistant',
    parts: [{ type: 'text', text: 'Hello' }],
    metadata: { template: 'hello' },
  })
})

test('a message that could not be delivered has failed, with the reason, and can be sent again', async () => {
  const { threadId } = await someone()
  const id = await queue(threadId, { text: 'Hi' })
  await home.deliver()
  const { id: messageId, callback } = home.fake.sent[0] ?? { id: '', callback: '' }
  await report('failed', { id: messageId, callback, error: { code: 131047, title: 'Re-engagement' } })
  await report('sent', { id: messageId, callback })
  const row = await rowOf(id)
  assert.equal(row.status, 'failed')
  assert.match(row.error ?? '', /24 hours/)
  const events = await home.service.ctx.db
    .selectFrom('helpdesk_events')
    .select('data')
    .where('type', '=', 'delivery')
    .execute()
  assert.ok(events.some(({ data }) => data.status === 'failed'))
  assert.equal(await retryDelivery(home.service.ctx.db, home.client.accountId, id), true)
  await home.deliver()
  assert.deepEqual([await statusOf(id), home.fake.sent.length], ['sent', 2])
})

test('after a lost response, a status proves acceptance, and the message is not sent again', async () => {
  const { threadId } = await someone()
  const id = await queue(threadId, { text: 'Only once' })
  const next = await queue(threadId, { text: 'Second' })
  home.fake.faults.push({ path: /messages$/, cut: 'after' })
  await home.deliver()
  assert.deepEqual([(await rowOf(id)).maybe_sent, await statusOf(next)], [true, 'queued'])
  const { id: messageId, callback } = home.fake.sent[0] ?? { id: '', callback: '' }
  await report('delivered', { id: messageId, callback })
  assert.equal(await statusOf(id), 'delivered')
  await pass()
  await home.deliver()
  assert.deepEqual(texts(), ['Only once', 'Second'])
})

test('after a lost response and no status, the message is sent again after a while', async () => {
  const { threadId } = await someone()
  const id = await queue(threadId, { text: 'Was lost' })
  home.fake.faults.push({ path: /messages$/, cut: 'before' })
  await home.deliver()
  const wait = (await rowOf(id)).next_at.getTime() - Date.now()
  assert.ok(wait > 30_000 && wait <= 60_000, String(wait))
  await home.deliver()
  assert.equal(home.fake.sent.length, 0)
  await pass()
  await home.deliver()
  assert.deepEqual([texts(), await statusOf(id)], [['Was lost'], 'sent'])
})

test('when a process dies during a delivery, the person receives it once, whether or not the channel accepted it', async () => {
  const { threadId, to } = await someone()
  const first = await queue(threadId, { text: 'Taken before' })
  assert.equal((await claimDelivery(home.service.ctx.db))?.id, first)
  // The pieces that the dead process had sent.
  await fetch(`${home.fake.url}/v24.0/${NUMBER}/messages`, {
    method: 'POST',
    headers: { authorization: 'Bearer token-1' },
    body: JSON.stringify({
      to,
      type: 'text',
      text: { body: 'Taken before' },
      biz_opaque_callback_data: `${first}.0`,
    }),
  })
  await report('sent', { id: home.fake.sent[0]?.id ?? '', callback: `${first}.0` })
  const second = await queue(threadId, { text: 'Not taken' })
  assert.equal((await claimDelivery(home.service.ctx.db))?.id, second)
  await pass()
  await home.deliver()
  assert.deepEqual(texts(), ['Taken before', 'Not taken'])
  assert.deepEqual([await statusOf(first), await statusOf(second)], ['sent', 'sent'])
  assert.equal((await rowOf(second)).maybe_sent, true)
})

test('nothing is lost while the channel is down; afterwards everything arrives once and in order', async () => {
  const threads = [await someone(), await someone(), await someone()]
  home.fake.down = true
  for (let i = 0; i < 4; i++)
    for (const { threadId, to } of threads) await queue(threadId, { text: `${to} ${i}` })
  for (let minute = 0; minute < 5; minute++) {
    await home.deliver()
    await pass()
  }
  assert.equal(home.fake.sent.length, 0)
  home.fake.down = false
  for (let i = 0; i < 6; i++) {
    await pass()
    await home.deliver()
  }
  for (const { to } of threads) {
    const own = home.fake.sent.filter((message) => message.to === to).map(({ body }) => body.body)
    assert.deepEqual(
      own,
      [0, 1, 2, 3].map((i) => `${to} ${i}`),
    )
  }
})

test('a channel that limits requests says how long to wait', async () => {
  const { threadId } = await someone()
  const id = await queue(threadId, { text: 'Slowly' })
  home.fake.faults.push({ path: /messages$/, status: 429, code: 130429, retryAfter: 120 })
  await home.deliver()
  const wait = (await rowOf(id)).next_at.getTime() - Date.now()
  assert.ok(wait > 100_000 && wait <= 120_000, String(wait))
  await pass()
  await home.deliver()
  assert.equal(await statusOf(id), 'sent')
})

test('outside the 24 hours, after an opt-out, and without a connection, a message is rejected with the reason', async () => {
  const { threadId } = await someone()
  const { db } = home.service.ctx
  const set = (values: object) =>
    db.updateTable('channel_threads').set(values).where('id', '=', threadId).execute()
  const refused = async (reason: RegExp) => {
    const id = await queue(threadId, { text: 'Hi' })
    await home.deliver()
    const row = await rowOf(id)
    assert.equal(row.status, 'failed')
    assert.match(row.error ?? '', reason)
  }
  await set({ last_inbound_at: new Date(Date.now() - 25 * 3_600_000) })
  await refused(/24 hours/)
  await set({ last_inbound_at: new Date(), opted_out_at: new Date() })
  await refused(/opted out/)
  await set({ opted_out_at: null })
  home.fake.faults.push({ path: /messages$/, status: 400, code: 131047 })
  await refused(/24 hours/)
  assert.equal(home.fake.sent.length, 0)
})

test('a process whose clock is a day ahead still sends replies', async () => {
  const { threadId } = await someone()
  const id = await queue(threadId, { text: 'In time' })
  mock.timers.enable({ apis: ['Date'], now: Date.now() + 25 * 3_600_000 })
  try {
    await home.deliver()
  } finally {
    mock.timers.reset()
  }
  assert.deepEqual([await statusOf(id), texts()], ['sent', ['In time']])
})

test('files are uploaded and sent after the text', async () => {
  const { threadId } = await someone()
  const { ctx } = home.service
  const owner = { accountId: home.client.accountId, agentId: home.agentId }
  const keep = (name: string, mediaType: string) =>
    transact(ctx.db, (trx) =>
      keepAttachment(ctx.filesDir, trx, owner, { name, mediaType, bytes: Buffer.from('bytes') }),
    )
  const attachments = [await keep('a.png', 'image/png'), await keep('plan.pdf', 'application/pdf')]
  const id = await queue(threadId, { text: 'See [1]', html: '<p>See [1]</p>', attachments })
  home.fake.faults.push({ path: /media$/, cut: 'after' })
  await home.deliver()
  await pass()
  await home.deliver()
  assert.equal(await statusOf(id), 'sent')
  assert.deepEqual(
    home.fake.sent.map(({ type }) => type),
    ['text', 'image', 'document'],
  )
  assert.equal(home.fake.sent[0]?.body.body, 'See [1]')
  assert.equal(home.fake.sent[2]?.body.filename, 'plan.pdf')
  const upload = home.fake.files.get(home.fake.sent[2]?.body.id)
  assert.match(
    upload?.bytes.toString() ?? '',
    /name="messaging_product"[\s\S]*filename="plan.pdf"[\s\S]*bytes/,
  )
})

test('a delivery in pieces counts as delivered when the last piece is', async () => {
  const { threadId } = await someone()
  const id = await queue(threadId, { text: `${'a '.repeat(3_000)}` })
  await home.deliver()
  const [one, two] = home.fake.sent
  await report('delivered', { id: one?.id ?? '', callback: one?.callback ?? '' })
  assert.equal(await statusOf(id), 'sent')
  await report('read', { id: two?.id ?? '', callback: two?.callback ?? '' })
  assert.equal(await statusOf(id), 'delivered')
})

test('the offer of an answer is a button below its last message, where the provider has buttons', () => {
  const answerId = '01a22484-6254-7519-b888-78b94b763529'
  const paragraph = `${'word '.repeat(120).trim()}.`
  for (const { person } of Object.values(CUSTOMER_SENTENCES)) {
    assert.ok(person.length <= (whatsAppAdapter.button?.maxTitleLength ?? 0), person)
    const offer = { answerId, title: person }
    const content = { text: [paragraph, paragraph, paragraph].join('\n\n'), offer }
    const pieces = piecesOf(whatsAppAdapter, content)
    const button = { id: `person.${answerId}`, title: person }
    assert.deepEqual(
      pieces.map((piece) => (piece.kind === 'text' ? [piece.text.length <= 1_024, piece.button] : piece)),
      [
        [true, undefined],
        [true, undefined],
        [true, button],
      ],
    )
    assert.equal(readPress(button.id), answerId)
    const plain = piecesOf({ ...whatsAppAdapter, button: null }, content)
    assert.deepEqual(plain, [{ kind: 'text', text: content.text }])
  }
})
