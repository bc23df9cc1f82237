import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { loadWordVectors } from '../../models/static/word-vectors.ts'
import { createStemmer } from '../../text/languages/stem.ts'
import { likeness, printOf, SAME } from './similar-questions.ts'

const words = loadWordVectors()
const stem = createStemmer()
const alike = (a: string, b: string) => likeness(printOf(a, words, stem), printOf(b, words, stem), words)

const PAIRS: [string, string, boolean][] = [
  ['Do you ship to Austria?', 'do you SHIP to austria', true],
  ['Do you ship to Austria?', 'Is shipping to Austria possible?', true],
  ['Do you offer gift cards?', 'Can I buy a gift card?', true],
  ['Wo kann ich parken?', 'Kann man bei euch parken?', true],
  ['Gibt es einen Studentenrabatt?', 'Habt ihr Rabatt für Studenten?', true],
  ['返品はできますか', '返品できますか？', true],
  ['Do you ship to Austria?', 'Do you ship to Norway?', false],
  ['Do you offer gift cards?', 'Do you offer student discounts?', false],
  ['How do I delete my account?', 'How do I change my password?', false],
  ['What is the capital of France?', 'What is the warranty of the lamp?', false],
  ['Wo kann ich parken?', 'Wo kann ich bezahlen?', false],
  ['How do I export contacts?', 'How do I import contacts?', false],
  ['Are you open on Sunday?', 'Are you open on Monday?', false],
  ['What does the premium plan cost?', 'What is the price of the premium plan?', true],
  ['Can I pay with PayPal?', 'Can I pay with a credit card?', false],
  ['Gibt es einen Studentenrabatt?', 'Gibt es vegane Gerichte?', false],
  ['返品はできますか', '駐車場はありますか', false],
]

test('pairs that ask the same are recognised, and others are not', () => {
  const wrong = PAIRS.filter(([a, b, same]) => alike(a, b) >= SAME !== same)
  assert.deepEqual(
    wrong.map(([a, b]) => `${a} / ${b}: ${alike(a, b).toFixed(2)}`),
    [],
  )
})

test('likeness is symmetric, at most 1, and 1 for identical questions', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.lorem(), (a, b) => {
      assert.ok(Math.abs(alike(a, b) - alike(b, a)) < 1e-9)
      assert.ok(alike(a, b) >= 0 && alike(a, b) <= 1 + 1e-9)
      assert.ok(Math.abs(alike(b, b) - 1) < 1e-9)
    }),
  )
})
