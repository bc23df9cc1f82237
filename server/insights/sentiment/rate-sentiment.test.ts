import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createLexicon } from './lexicon.ts'
import { rateSentiment, type Sentiment } from './rate-sentiment.ts'

const lexicon = createLexicon()
const rate = (messages: string[], more: { positive?: number; negative?: number; escalated?: boolean } = {}) =>
  rateSentiment(lexicon, {
    messages,
    ratings: { positive: more.positive ?? 0, negative: more.negative ?? 0 },
    escalated: more.escalated ?? false,
  })

const LABELLED: [Sentiment, string[]][] = [
  ['positive', ['How do I export my data?', 'Perfect, that worked. Thank you!']],
  ['positive', ['You guys are awesome 😊']],
  ['positive', ['Where is my order?', 'Great, thanks a lot, very helpful']],
  ['positive', ['I love this product']],
  ['positive', ['not bad at all, I am really happy with it']],
  ['positive', ['Wie kündige ich?', 'Super, vielen Dank, das hat geholfen!']],
  ['positive', ['Ich bin sehr zufrieden mit Ihrem Service']],
  ['positive', ['Das klappt wunderbar']],
  ['neutral', ['How do I cancel my subscription?']],
  ['neutral', ['What are your opening hours?', 'ok thanks']],
  ['neutral', ['Can you help me with an invoice?']],
  ['neutral', ['I have a problem with my login', 'It says error 403', 'ok, done']],
  ['neutral', ['Wie lange dauert der Versand?']],
  ['neutral', ['Ich habe eine Frage zu meiner Rechnung', 'Danke']],
  ['neutral', ['Wo finde ich die Einstellungen?']],
  ['neutral', ['Do you ship to Austria?']],
  ['neutral', []],
  ['negative', ['This is terrible, nothing works']],
  ['negative', ['My parcel is late', 'that did not help', 'I am really annoyed']],
  ['negative', ['It still does not work!!']],
  ['negative', ['I have been waiting for weeks and nobody answers. Worst service ever.']],
  ['negative', ['I am not happy with this']],
  ['negative', ['What a waste of money 😡']],
  ['negative', ['You have WRONG INFORMATION and you are useless']],
  ['negative', ['Das ist eine Frechheit!']],
  ['negative', ['Der Login funktioniert immer noch nicht', 'Ich bin echt enttäuscht']],
  ['negative', ['Ich bin nicht zufrieden']],
  ['negative', ['Seit Wochen keine Antwort, das ist unverschämt']],
]

test('labelled conversations in English and German are rated correctly', () => {
  const wrong = LABELLED.filter(([expected, messages]) => rate(messages) !== expected)
  assert.deepEqual(
    wrong.map(([expected, messages]) => `${expected}: ${messages.join(' / ')}`),
    [],
  )
})

test('ratings and requests for a person affect the mood, and the end outweighs the beginning', () => {
  assert.equal(rate(['Where is it?'], { negative: 1 }), 'negative')
  assert.equal(rate(['Where is it?'], { positive: 1 }), 'positive')
  assert.equal(rate(['Where is it?'], { positive: 1, negative: 1 }), 'neutral')
  assert.equal(rate(['It is wrong, I am stuck'], { escalated: true }), 'negative')
  assert.equal(rate(['This is bad', 'Now it works, perfect, thank you']), 'positive')
  assert.equal(rate(['Perfect, thank you', 'oh no, now it is broken and useless']), 'negative')
})

test('any text has a mood, and a thumbs-down never improves it', () => {
  const order: Sentiment[] = ['negative', 'neutral', 'positive']
  const word = fc.constantFrom(
    'good',
    'bad',
    'not',
    'very',
    'awful',
    'schlecht',
    'nicht',
    'super',
    '!!',
    ':)',
  )
  const text = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.array(word).map((list) => list.join(' ')),
  )
  fc.assert(
    fc.property(fc.array(text, { maxLength: 6 }), (messages) => {
      assert.ok(order.indexOf(rate(messages, { negative: 1 })) <= order.indexOf(rate(messages)))
    }),
  )
})
