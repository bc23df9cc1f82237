import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readVerdict } from './verdict.ts'

const NAMES = ['Billing', 'Delivery']
const KNOWN = NAMES.map((name) => ({ name, aliases: name === 'Delivery' ? ['Parcels'] : [] }))
const read = (value: unknown) =>
  readVerdict(typeof value === 'string' ? value : JSON.stringify(value), KNOWN, 3)

test('a valid answer is parsed, with or without a fence', () => {
  const answer = { sentiment: 'negative', topics: ['billing', 'Nonsense', 'Billing'], newTopic: null }
  const verdict = { sentiment: 'negative', topics: ['Billing'], newTopic: null, unanswered: null }
  assert.deepEqual(read(answer), verdict)
  assert.deepEqual(read(`\`\`\`json\n${JSON.stringify(answer)}\n\`\`\`\n`), verdict)
  assert.deepEqual(read({ sentiment: 'neutral', topics: [], newTopic: 'gift cards' }), {
    sentiment: 'neutral',
    topics: [],
    newTopic: 'Gift cards',
    unanswered: null,
  })
  assert.deepEqual(read({ ...answer, unanswered: [2, 'x', 1.5] })?.unanswered, [2])
  assert.deepEqual(read({ sentiment: 'neutral', topics: ['parcels'] })?.topics, ['Delivery'])
  const renamed = read({ sentiment: 'neutral', topics: [], newTopic: 'DELIVERY!' })
  assert.deepEqual([renamed?.topics, renamed?.newTopic], [['Delivery'], null])
})

test('anything else is rejected, and unknown names are left out', () => {
  const wrong: unknown[] = [
    '',
    'positive',
    '[]',
    'null',
    '{"sentiment":',
    'Sure! {"sentiment":"neutral","topics":[]}',
    { sentiment: 'furious', topics: [] },
    { sentiment: 'neutral', topics: 'Billing' },
    { sentiment: 'neutral' },
    { sentiment: 'neutral', topics: [], newTopic: 7 },
    { sentiment: 'neutral', topics: [], more: 'x'.repeat(4_000) },
  ]
  for (const answer of wrong) assert.equal(read(answer), null, JSON.stringify(answer).slice(0, 80))
  for (const newTopic of [
    'x'.repeat(61),
    '...',
    '',
    'please visit this address for a very nice prize',
    '1234',
  ])
    assert.equal(read({ sentiment: 'neutral', topics: [], newTopic })?.newTopic, null, newTopic)
})

test('no text makes it throw or return a topic that is not in the list', () => {
  const json = fc.record({
    sentiment: fc.oneof(fc.constantFrom('positive', 'neutral'), fc.jsonValue()),
    topics: fc.oneof(fc.array(fc.oneof(fc.constantFrom(...NAMES), fc.jsonValue())), fc.jsonValue()),
    newTopic: fc.oneof(fc.string({ unit: 'grapheme' }), fc.jsonValue()),
  })
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'grapheme' }), json), (answer) => {
      const verdict = read(answer)
      if (verdict === null) return
      assert.ok(verdict.topics.length <= 2 && verdict.topics.every((name) => NAMES.includes(name)))
      assert.ok(
        verdict.newTopic === null || (verdict.newTopic.length <= 60 && !/[\n<>"{}]/.test(verdict.newTopic)),
      )
    }),
  )
})
