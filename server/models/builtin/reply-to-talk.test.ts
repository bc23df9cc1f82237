import assert from 'node:assert/strict'
import { test } from 'node:test'
import { quotablePassage } from '../../../test/quotable-passage.ts'
import { loadWordVectors } from '../static/word-vectors.ts'
import type { BuiltinInput, QuotablePassage } from './input.ts'
import { phrasesFor } from './phrases/phrases.ts'
import { replyToTalk } from './reply-to-talk.ts'

const words = loadWordVectors()
const en = phrasesFor('en')

const passage = (text: string, more: Partial<QuotablePassage> = {}): QuotablePassage =>
  quotablePassage(text, { sourceName: 'Help', score: 0.5, ...more })

const reply = (question: string, more: Partial<BuiltinInput> = {}) =>
  replyToTalk({ question, confidence: 0, passages: [], ...more }, words)
const said = (question: string, more: Partial<BuiltinInput> = {}): string | undefined =>
  reply(question, more)?.text

test('small talk gets a reply in its language, and a question none', () => {
  assert.equal(said('Hi there!'), en.hello)
  assert.equal(said('Vielen Dank!!'), phrasesFor('de').thanks)
  assert.equal(said('thank you so much :)'), en.thanks)
  assert.equal(said('Tschüss'), phrasesFor('de').goodbye)
  assert.equal(said('ok'), en.allRight)
  assert.equal(said('Tengo una pregunta'), phrasesFor('es').help)
  assert.equal(said('👍'), en.allRight)
  const documents = { areEmpty: false, language: 'fr' as const, subjects: [] }
  assert.equal(said('👍', { documents }), phrasesFor('fr').allRight)
  assert.equal(reply('Hello, where is my parcel?'), null)
})

test('what the agent said last decides what a yes or a no is about', () => {
  assert.equal(said('no', { before: en.thanks }), en.goodbye)
  assert.equal(said('yes', { before: en.thanks }), en.help)
  assert.equal(said('no', { before: `${en.decline} ${en.offer}` }), en.allRight)
  assert.equal(said('no', { before: `${en.closest}\n\nA lamp. [1]` }), `${en.sorry} ${en.offer}`)
  // Also after several answers, which do not begin so.
  const unsure = `**Lamps?**\n\nA lamp. [1]\n\n${en.sayPerson}`
  assert.equal(said('no', { before: unsure }), `${en.sorry} ${en.offer}`)
  assert.equal(said('yes please', { before: unsure }), en.offer)
  assert.equal(said('no'), en.allRight)
})

test('a complaint is answered with an apology, and with the offer of a person if there is one', () => {
  assert.equal(said('That was not helpful'), `${en.sorry} ${en.offer}`)
  assert.equal(said('That was not helpful', { mayOffer: false }), `${en.sorry} ${en.rephrase}`)
  const ja = phrasesFor('ja')
  assert.equal(said('役に立たない'), `${ja.sorry}${ja.offer}`)
})

test('the agent says what it is and what it knows, unless the documents surely do', () => {
  const documents = { areEmpty: false, language: 'en' as const, subjects: ['Delivery', 'Returns'] }
  const about = said('Are you a bot?', { agentName: 'Anna', documents })!
  assert.ok(about.startsWith(en.identity.replace('{name}', 'Anna')))
  assert.ok(about.includes(en.sayPerson) && about.endsWith('- Delivery\n- Returns'))
  assert.ok(!said('Are you a bot?', { mayOffer: false })!.includes(en.sayPerson))
  const passages = [passage('Robbie is a robot.', { headingPath: ['FAQ', 'Are you a bot?'] })]
  assert.equal(reply('Are you a bot?', { passages, confidence: 0.4 }), null)
  assert.equal(reply('Are you a bot?', { passages: [passage('We are robots.')], confidence: 0.95 }), null)
  // Of the wish to ask something, the documents say nothing, however many of their words are the same.
  assert.equal(said('Can you help me?', { passages: [passage('Call us.')], confidence: 0.99 }), en.help)
  const stored = [passage('Yes.', { questions: ['Can you help me?'] })]
  assert.equal(reply('Can you help me?', { passages: stored, confidence: 1 }), null)
})

test('a greeting with a name is one only if the documents do not know the name', () => {
  const passages = [passage('Hello Fresh costs 40 euros.')]
  assert.equal(reply('Hello Fresh', { passages, confidence: 0.5 }), null)
  assert.equal(said('Hello Anna', { passages, confidence: 0.02 }), en.hello)
})

test('if nobody can be called, the documents tell how to reach somebody', () => {
  const message = { kind: 'person' as const, language: 'en' as const, isSure: true }
  const ask = (text: string, score = 0.5) =>
    reply('I want to talk to a human', { message, passages: [passage('Lamps.'), passage(text, { score })] })!
  for (const contact of ['Call +49 30 1234567 on weekdays.', 'Write to help@lumino.example.']) {
    const { text, cited, band } = ask(contact)
    assert.deepEqual([text, cited, band], [`${en.noPerson} ${en.reach}\n\n${contact} [1]`, [1], 'answer'])
  }
  for (const [other, score] of [
    ['Lamps with 12000 hours.', 0.5],
    ['Call +49 30 1234567.', 0.01],
  ] as const)
    assert.deepEqual([ask(other, score).text, ask(other, score).cited], [en.noPerson, []])
})
