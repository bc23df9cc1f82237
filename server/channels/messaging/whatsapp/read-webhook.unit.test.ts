import assert from 'node:assert/strict'
import { test } from 'node:test'
import { webhookOf } from '../../../../test/fakes/messaging-wire.ts'
import { readWebhook } from './read-webhook.ts'

const NOW = new Date()
const metadata = { phone_number_id: 'n-1' }
const many = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i))
const phone = (i: number) => String(15_550_000_000 + i)
const messageOf = (i: number) => ({ from: phone(i), id: `m-${i}`, type: 'text', text: { body: 'Hi' } })
const contactOf = (i: number) => ({ wa_id: phone(i), profile: { name: `Pat ${i}` } })
const read = (value: object) => readWebhook(webhookOf('111', { metadata, ...value }), NOW)
const namesIn = ({ events }: ReturnType<typeof read>) =>
  events.map((event) => (event.kind === 'message' ? event.from.name : null))

test('each message has the name of its sender, and every contact is examined once', () => {
  let looks = 0
  const contacts = many(1_000, (i) => ({
    profile: { name: `Pat ${i}` },
    get wa_id() {
      looks++
      return phone(i)
    },
  }))
  const found = read({ contacts, messages: many(1_000, (i) => messageOf(999 - i)) })
  assert.deepEqual(
    namesIn(found),
    many(1_000, (i) => `Pat ${999 - i}`),
  )
  assert.equal(looks, 1_000)
})

test('a single contact is the sender under any number; of several, only the matching one', () => {
  assert.deepEqual(namesIn(read({ contacts: [contactOf(7)], messages: [messageOf(1)] })), ['Pat 7'])
  assert.deepEqual(namesIn(read({ contacts: [contactOf(7), contactOf(8)], messages: [messageOf(1)] })), [
    null,
  ])
  const twice = [contactOf(1), { ...contactOf(1), profile: { name: 'Other' } }]
  assert.deepEqual(namesIn(read({ contacts: twice, messages: [messageOf(1)] })), ['Pat 1'])
  assert.deepEqual(namesIn(read({ messages: [messageOf(1)] })), [null])
})

test("entries beyond the channel's limits are dropped and counted", () => {
  const statuses = many(1_003, (i) => ({ id: `s-${i}`, status: 'read' }))
  const { events, dropped } = read({
    contacts: many(1_001, contactOf),
    messages: many(1_002, messageOf),
    statuses,
  })
  assert.equal(dropped, 1 + 2 + 3)
  assert.deepEqual(
    events.map(({ messageId }) => messageId),
    [...many(1_000, (i) => `m-${i}`), ...many(1_000, (i) => `s-${i}`)],
  )
  assert.equal(read({ messages: many(1_000, messageOf) }).dropped, 0)
})
