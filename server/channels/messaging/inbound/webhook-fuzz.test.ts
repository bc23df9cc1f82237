import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { signatureOf, textWebhook, webhookOf } from '../../../../test/fakes/messaging-wire.ts'
import {
  ACCOUNT,
  type MessagingHome,
  NUMBER,
  PAT,
  startMessagingHome,
} from '../../../../test/messaging-home.ts'
import { readWebhook } from '../whatsapp/read-webhook.ts'

let home: MessagingHome
before(async () => {
  home = await startMessagingHome()
})
after(() => home.close())

const NAMES = [
  'entry',
  'changes',
  'value',
  'field',
  'messages',
  'statuses',
  'metadata',
  'from',
  'id',
  'type',
  'text',
  'body',
  'timestamp',
  'phone_number_id',
  'image',
  'errors',
  'contacts',
  'interactive',
  'status',
  'biz_opaque_callback_data',
  '__proto__',
]
const anything = fc.jsonValue({ maxDepth: 5, noUnicodeString: false } as never)
const wild = fc.letrec((tie) => ({
  node: fc.oneof(
    { maxDepth: 8, withCrossShrink: true },
    anything,
    fc.constantFrom(
      'messages',
      ACCOUNT,
      NUMBER,
      PAT,
      'text',
      'image',
      'failed',
      '1760000000',
      1e300,
      -1,
      '\0',
      '\ud800',
    ),
    fc.array(tie('node'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...NAMES), tie('node'), { maxKeys: 6, noNullPrototype: true }),
  ),
})).node

/** Returns a valid webhook with one member replaced. */
const damaged = fc.tuple(fc.nat(30), wild).map(([place, instead]) => {
  let left = place
  const walk = (value: unknown): unknown => {
    if (left-- === 0) return instead
    if (Array.isArray(value)) return value.map(walk)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, walk(member)]))
  }
  return walk(textWebhook({ account: ACCOUNT, number: NUMBER, from: PAT }, 'wamid.1', 1_760_000_000, 'Hi'))
})

test('any body is read without an error', () => {
  fc.assert(
    fc.property(fc.oneof(wild, damaged), (body) => {
      const { events } = readWebhook(JSON.parse(JSON.stringify(body) ?? 'null'), new Date())
      for (const event of events) {
        assert.ok(event.messageId.length > 0 && event.messageId.length <= 256)
        if (event.kind === 'message') {
          const { phone, userId, parentUserId } = event.from
          assert.match(phone ?? '', /^(\d{5,20})?$/)
          assert.ok(phone ?? userId ?? parentUserId)
        }
      }
    }),
    { numRuns: 2_000 },
  )
})

test('signed garbage never causes a 500, and nothing unreadable is stored', async () => {
  const post = (bytes: string | Uint8Array<ArrayBuffer>) =>
    fetch(`${home.service.url}/webhooks/messaging/${home.agentId}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-hub-signature-256': signatureOf(
          typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('latin1'),
          'app-secret',
        ),
      },
      body: bytes,
    })
  await fc.assert(
    fc.asyncProperty(fc.oneof(wild, damaged), async (body) => {
      const { status } = await post(JSON.stringify(body) ?? 'null')
      assert.equal(status, 200)
    }),
    { numRuns: process.env.TEST_THOROUGH ? 150 : 30 },
  )
  for (const text of [
    '',
    '{',
    'null',
    '[]',
    '"x"',
    '{"entry":{}}',
    `${'['.repeat(50_000)}${']'.repeat(50_000)}`,
  ]) {
    const { status } = await post(text)
    assert.ok([200, 400].includes(status), `${status} ${text.slice(0, 20)}`)
  }
  const rows = await home.service.ctx.db.selectFrom('inbound_messages').selectAll().execute()
  for (const { content, provider_message_id, sent_at } of rows) {
    assert.equal(typeof content.text, 'string')
    assert.ok(content.text !== '' || content.awaited?.length)
    assert.ok(provider_message_id.length > 0 && sent_at.getTime() <= Date.now())
  }
})

test('oversized webhooks are processed up to the limit, with a line in the log', async (t) => {
  const warned = t.mock.method(home.service.ctx.log, 'warn')
  const contacts = Array.from({ length: 1_001 }, () => ({ wa_id: PAT }))
  const { status } = await home.webhook(
    webhookOf(ACCOUNT, { metadata: { phone_number_id: NUMBER }, contacts }),
  )
  assert.equal(status, 200)
  assert.deepEqual(
    warned.mock.calls.map(({ arguments: [first] }) => first),
    [{ agent: home.agentId, dropped: 1 }],
  )
})
