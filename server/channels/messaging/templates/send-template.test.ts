import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import type { MessagingFault } from '../../../../test/fakes/messaging-server.ts'
import { type FakeTemplate, fakeTemplate, statusWebhook } from '../../../../test/fakes/messaging-wire.ts'
import {
  ACCOUNT,
  type MessagingHome,
  NUMBER,
  now,
  startMessagingHome,
} from '../../../../test/messaging-home.ts'
import { until } from '../../../../test/until.ts'
import { createMember } from '../../../accounts/records/members.ts'
import { phoneOf } from './send-template.ts'

let home: MessagingHome

const templates: FakeTemplate[] = [
  fakeTemplate('plain', 'Hello'),
  fakeTemplate('order', 'Your {{1}} is {{2}}', {
    components: [
      { type: 'HEADER', format: 'TEXT', text: 'Hi {{1}}' },
      { type: 'BODY', text: 'Your {{1}} is {{2}}' },
    ],
  }),
  fakeTemplate('two', 'Hello'),
  fakeTemplate('two', 'Hallo', { language: 'de' }),
  fakeTemplate('paused', 'Hello', { status: 'PAUSED' }),
  fakeTemplate('named', 'For {{customer}}', { parameter_format: 'NAMED' }),
  fakeTemplate('button', 'Hello', {
    components: [{ type: 'BUTTONS', buttons: [{ type: 'URL', text: 'x', url: 'https://x.example/{{1}}' }] }],
  }),
]

before(async () => {
  home = await startMessagingHome()
  home.fake.accounts.get(ACCOUNT)?.templates.push(...templates)
})
after(() => home.close())

const send = (body: object, headers?: Record<string, string>) =>
  home.client.request('POST', `/agents/${home.agentId}/messaging/messages/template`, body, headers)
const plain = (to: string, more: object = {}) => send({ to, template: { name: 'plain' }, ...more })
const code = async (answer: ReturnType<typeof send>) => {
  const { status, body } = await answer
  return [status, body.error?.code, ...(body.error?.details ? [body.error.details] : [])]
}
const messagesOf = async (conversationId: string) =>
  home.service.ctx.db
    .selectFrom('messages')
    .select(['role', 'parts'])
    .where('conversation_id', '=', conversationId)
    .orderBy('seq')
    .execute()

test('numbers are read as people write them', () => {
  for (const text of ['+1 (555) 010-2030', '15550102030', '0015550102030', '1.555.010.2030'])
    assert.equal(phoneOf(text), '+15550102030', text)
  for (const text of ['abc', '+1', '12345', '+15550102030 ext 5', '', '+999999999999999999'])
    assert.equal(phoneOf(text), null, text)
})

test('a template is sent, starts a conversation with the contact, and the reply continues it', async () => {
  const { status, body } = await send({
    to: '+1 555 010 7070',
    from: '+1 (555) 000-1111',
    template: {
      name: 'order',
      language: 'en',
      variables: { header: { '1': 'Ann' }, body: { '2': 'here', '1': 'bag' } },
    },
  })
  assert.equal(status, 201)
  assert.deepEqual([body.to, typeof body.messageId], ['15550107070', 'string'])
  const sent = home.fake.sent.at(-1)
  assert.deepEqual(sent?.body, {
    name: 'order',
    language: { code: 'en' },
    components: [
      { type: 'header', parameters: [{ type: 'text', text: 'Ann' }] },
      {
        type: 'body',
        parameters: [
          { type: 'text', text: 'bag' },
          { type: 'text', text: 'here' },
        ],
      },
    ],
  })
  const [message] = await messagesOf(body.conversationId)
  assert.deepEqual(
    [message?.role, message?.parts],
    ['assistant', [{ type: 'text', text: 'Hi Ann\n\nYour bag is here' }]],
  )
  const again = await plain('15550107070')
  assert.equal(again.body.conversationId, body.conversationId)
  await home.say('reply-1', now(), 'Thanks', '15550107070')
  await until('the messages', async () => (await messagesOf(body.conversationId)).length >= 3)
  await until('the answer', async () => (await messagesOf(body.conversationId)).length >= 4)
  const path = `/agents/${home.agentId}`
  const ask = (fields: object) =>
    home.client.request('POST', `${path}/chat`, { message: 'When?', stream: false, ...fields })
  const answer = await ask({ conversationId: body.conversationId })
  assert.deepEqual(
    [answer.status, answer.body.data?.metadata.conversationId],
    [200, body.conversationId],
    JSON.stringify(answer.body),
  )
  const within = `${path}/conversations/${body.conversationId}`
  const retry = { messageId: answer.body.data.id, stream: false }
  assert.equal((await home.client.request('POST', `${within}/retry`, retry)).status, 200)
  assert.equal((await home.client.raw('GET', `${within}/stream`)).status, 204)
  const contact = await home.client.request('GET', `/api/v1/chatbots/${home.agentId}/contacts`)
  assert.equal(
    contact.body.data.filter((one: { phonenumber: string }) => one.phonenumber === '+15550107070').length,
    1,
  )
})

test('a template with named variables sends the names of its values', async () => {
  await send({ to: '15550107071', template: { name: 'named', variables: { body: { customer: 'Ann' } } } })
  assert.deepEqual(home.fake.sent.at(-1)?.body.components[0].parameters, [
    { type: 'text', parameter_name: 'customer', text: 'Ann' },
  ])
})

test('every rejection of the contract is returned, and nothing is sent', async () => {
  const before = home.fake.sent.length
  const to = '15550107072'
  assert.deepEqual(await code(plain(to, { from: '+1 555 999 9999' })), [404, 'PHONE_NUMBER_NOT_FOUND'])
  assert.deepEqual(await code(send({ to, template: { name: 'none' } })), [404, 'TEMPLATE_NOT_FOUND'])
  assert.deepEqual(await code(send({ to, template: { name: 'plain', language: 'fr' } })), [
    404,
    'TEMPLATE_NOT_FOUND',
  ])
  assert.deepEqual(await code(send({ to, template: { name: 'two' } })), [400, 'TEMPLATE_LANGUAGE_REQUIRED'])
  assert.deepEqual(await code(send({ to, template: { name: 'paused' } })), [
    409,
    'TEMPLATE_NOT_APPROVED',
    { status: 'PAUSED' },
  ])
  const order = (variables: object) => send({ to, template: { name: 'order', variables } })
  assert.deepEqual(await code(order({ body: { '1': 'a' } })), [
    422,
    'MISSING_TEMPLATE_VARIABLES',
    { missing: 'header[1], body[2]' },
  ])
  assert.deepEqual(await code(order({ header: { '1': '' }, body: { '1': 'a', '2': 'b' } })), [
    422,
    'INVALID_TEMPLATE_VARIABLES',
    { invalid: 'header[1] (is empty)' },
  ])
  assert.deepEqual(await code(send({ to, template: { name: 'button' } })), [
    422,
    'TEMPLATE_BUTTONS_UNSUPPORTED',
    { buttons: 'x (URL)' },
  ])
  assert.deepEqual(await code(plain('hello')), [422, 'RECIPIENT_INVALID'])
  assert.equal(home.fake.sent.length, before)
  const deliveries = home.service.ctx.db
    .selectFrom('channel_threads')
    .select('id')
    .where('peer', '=', `+${to}`)
  assert.deepEqual(await deliveries.execute(), [])
})

test('rejections by the channel are returned as errors of the contract', async () => {
  const cases: [number, number, unknown[]][] = [
    [400, 132000, [422, 'TEMPLATE_PARAMS_REJECTED']],
    [404, 132001, [404, 'TEMPLATE_NOT_FOUND']],
    [400, 132015, [409, 'TEMPLATE_NOT_APPROVED', { status: 'PAUSED' }]],
    [400, 131049, [409, 'SEND_BLOCKED', { reason: 'frequency' }]],
    [400, 131026, [422, 'RECIPIENT_NOT_REACHABLE']],
    [400, 131021, [422, 'RECIPIENT_INVALID']],
    [401, 190, [502, 'MESSAGING_SEND_FAILED']],
    [429, 130429, [502, 'MESSAGING_SEND_FAILED']],
    [500, 131000, [502, 'MESSAGING_SEND_FAILED']],
  ]
  for (const [status, channelCode, expected] of cases) {
    home.fake.faults.push({ path: /\/messages$/, status, code: channelCode })
    assert.deepEqual(await code(plain('15550107073')), expected, String(channelCode))
  }
  assert.equal((await plain('15550107073')).status, 201)
})

test('the time to wait is in the details; the header is only used for rate limits', async () => {
  const refused = async (fault: MessagingFault) => {
    home.fake.faults.push(fault)
    const answer = await plain('15550107080')
    assert.deepEqual([answer.status, answer.headers.get('retry-after')], [502, null])
    return answer.body.error.details
  }
  const path = /\/messages$/
  assert.deepEqual(await refused({ path, status: 429, code: 130429, retryAfter: 7 }), {
    retryAfterSeconds: '7',
  })
  assert.deepEqual(await refused({ path, status: 429, code: 130429, retryAfter: 0 }), {
    retryAfterSeconds: '1',
  })
  assert.equal(await refused({ path, status: 503, code: 131016 }), undefined)
  assert.deepEqual(await refused({ path, cut: 'after' }), { retryAfterSeconds: '60' })
})

test('with several numbers, one must be chosen, and each sends the templates of its own account', async () => {
  const account = home.fake.accounts.get(ACCOUNT)
  account?.numbers.push({ id: 'n-2', phone: '+1 555-000-2222', name: 'Second' })
  assert.equal((await plain('15550107074', { from: '+15550002222' })).status, 404)
  await home.service.ctx.db
    .updateTable('messaging_accounts')
    .set({ numbers_read_at: new Date(0) })
    .execute()
  assert.equal((await plain('15550107074', { from: '1-555-000-2222' })).status, 201)
  assert.equal(home.fake.sent.at(-1)?.number, 'n-2')
  assert.deepEqual(await code(plain('15550107074')), [400, 'PHONE_NUMBER_REQUIRED'])
  account?.numbers.pop()
  await home.service.ctx.db.updateTable('messaging_accounts').set({ numbers: null }).execute()
})

test('after a takeover, the template is sent on the channel only; after the end, the response names the conversation that receives replies', async () => {
  const { body } = await plain('15550107075')
  const owner = { id: home.client.accountId, plan: 'unlimited' }
  await createMember(home.service.ctx.db, owner, { email: 'ann@example.com', name: 'Ann' })
  const path = `/agents/${home.agentId}/conversations/${body.conversationId}`
  const taken = await home.client.request('POST', `${path}/takeover`, { memberEmail: 'ann@example.com' })
  assert.equal(taken.status, 200)
  const during = await plain('15550107075')
  assert.deepEqual([during.status, during.body.conversationId], [201, body.conversationId])
  await home.client.request('POST', `${path}/end`)
  const after = await plain('15550107075')
  assert.equal(after.status, 201)
  assert.notEqual(after.body.conversationId, body.conversationId)
  assert.deepEqual(await messagesOf(after.body.conversationId), [])
  const later = await plain('15550107075')
  assert.deepEqual([later.status, later.body.conversationId], [201, after.body.conversationId])
  assert.deepEqual(await messagesOf(after.body.conversationId), [])
  assert.equal(home.fake.sent.filter(({ to }) => to === '15550107075').length, 4)
  await home.say('after-1', now(), 'Thank you', '15550107075')
  await until('the answer', async () => (await messagesOf(after.body.conversationId)).length >= 2)
  const [first] = await messagesOf(after.body.conversationId)
  assert.deepEqual([first?.role, first?.parts], ['user', [{ type: 'text', text: 'Thank you' }]])
  const next = await plain('15550107075')
  assert.equal(next.body.conversationId, after.body.conversationId)
  assert.equal((await messagesOf(next.body.conversationId)).length, 3)
  const { parent_conversation_id } = await home.service.ctx.db
    .selectFrom('conversations')
    .select('parent_conversation_id')
    .where('id', '=', after.body.conversationId)
    .executeTakeFirstOrThrow()
  assert.equal(parent_conversation_id, body.conversationId)
  assert.equal((await messagesOf(body.conversationId)).length, 1)
})

test('a contact who opted out gets no template', async () => {
  await home.say('stop-1', now(), 'STOP', '15550107076')
  assert.deepEqual(await code(plain('15550107076')), [409, 'SEND_BLOCKED', { reason: 'opted_out' }])
})

test('when the channel uses another number for the person, replies arrive in the same conversation', async () => {
  home.fake.renamed.set('5491155550001', '541155550001')
  const first = await plain('+54 9 11 5555 0001')
  assert.equal(first.body.to, '541155550001')
  await home.say('renamed-1', now(), 'Hola', '541155550001')
  await until('the messages', async () => (await messagesOf(first.body.conversationId)).length >= 2)
  const second = await plain('+54 9 11 5555 0001')
  assert.equal(second.body.conversationId, first.body.conversationId)
})

test('a lost response is reported, a repetition does not send twice, and a status completes it', async () => {
  const key = { 'idempotency-key': 'lost-1' }
  const body = { to: '15550107077', template: { name: 'plain' } }
  home.fake.faults.push({ path: /\/messages$/, cut: 'after' })
  const lost = await send(body, key)
  assert.deepEqual([lost.status, lost.body.error.code], [502, 'MESSAGING_SEND_FAILED'])
  assert.match(lost.body.error.message, /may have been sent/)
  const sent = home.fake.sent.length
  assert.equal((await send(body, key)).status, 502)
  // However long the provider does not respond.
  const ago = new Date(Date.now() - 600_000)
  await home.service.ctx.db.updateTable('deliveries').set({ updated_at: ago }).execute()
  assert.equal((await send(body, key)).status, 502)
  const { id, callback } = home.fake.sent.at(-1) ?? { id: '', callback: '' }
  await home.webhook(
    statusWebhook(ACCOUNT, NUMBER, [{ id, callback, status: 'delivered', recipient: '15550107077' }]),
  )
  const answered = await send(body, key)
  assert.deepEqual([answered.status, answered.body.messageId, answered.body.to], [201, id, '15550107077'])
  assert.equal((await messagesOf(answered.body.conversationId)).length, 1)
  assert.equal(home.fake.sent.length, sent)
})

test('a template that the channel rejected may be sent again with the same key', async () => {
  const key = { 'idempotency-key': 'refused-1' }
  const body = { to: '15550107081', template: { name: 'plain' } }
  home.fake.faults.push({ path: /\/messages$/, status: 400, code: 131049 })
  assert.deepEqual(await code(send(body, key)), [409, 'SEND_BLOCKED', { reason: 'frequency' }])
  const sent = home.fake.sent.length
  const [first, second] = [await send(body, key), await send(body, key)]
  assert.deepEqual([first.status, second.body], [201, first.body])
  assert.equal(home.fake.sent.length, sent + 1)
})

test('a template that was accepted but not delivered keeps its response', async () => {
  const key = { 'idempotency-key': 'undelivered-1' }
  const body = { to: '15550107082', template: { name: 'plain' } }
  const first = await send(body, key)
  const { id, callback } = home.fake.sent.at(-1) ?? { id: '', callback: '' }
  const error = { code: 131026, title: 'x' }
  await home.webhook(
    statusWebhook(ACCOUNT, NUMBER, [{ id, callback, status: 'failed', recipient: '1', error }]),
  )
  assert.deepEqual((await send(body, key)).body, first.body)
})

test('a template of which only a failed status is known is not sent again', async () => {
  const key = { 'idempotency-key': 'lost-2' }
  const body = { to: '15550107083', template: { name: 'plain' } }
  home.fake.faults.push({ path: /\/messages$/, cut: 'after' })
  assert.equal((await send(body, key)).status, 502)
  const sent = home.fake.sent.length
  const { id, callback } = home.fake.sent.at(-1) ?? { id: '', callback: '' }
  const error = { code: 131026, title: 'x' }
  await home.webhook(
    statusWebhook(ACCOUNT, NUMBER, [{ id, callback, status: 'failed', recipient: '1', error }]),
  )
  const told = await send(body, key)
  assert.deepEqual([told.status, told.body.error.code], [502, 'MESSAGING_SEND_FAILED'])
  assert.match(told.body.error.message, /use another Idempotency-Key/)
  assert.equal(home.fake.sent.length, sent)
})

test('when a process dies while sending, the row says so and the template is not sent again automatically', async () => {
  const { body } = await plain('15550107078')
  const { db } = home.service.ctx
  // Restores the state of the moment before the response.
  await db
    .updateTable('deliveries')
    .set({ status: 'sending', attempts: 1, lease_until: new Date(0), provider_message_id: null })
    .set({ content: sql`jsonb_set(content, '{template,isSettled}', 'false')` as never })
    .where('conversation_id', '=', body.conversationId)
    .execute()
  const toThem = () => home.fake.sent.filter(({ to }) => to === '15550107078').length
  await home.deliver()
  const row = await db
    .selectFrom('deliveries')
    .select(['status', 'maybe_sent', 'error'])
    .where('conversation_id', '=', body.conversationId)
    .executeTakeFirstOrThrow()
  assert.deepEqual([row.status, row.maybe_sent], ['failed', true])
  assert.equal(toThem(), 1)
})

test('identical requests with one key send once', async () => {
  const key = { 'idempotency-key': 'once-1' }
  const before = home.fake.sent.length
  const answers = await Promise.all(
    Array.from({ length: 4 }, () => send({ to: '15550107079', template: { name: 'plain' } }, key)),
  )
  assert.deepEqual(new Set(answers.map(({ status, body }) => `${status} ${body.messageId}`)).size, 1)
  assert.equal(home.fake.sent.length, before + 1)
})
