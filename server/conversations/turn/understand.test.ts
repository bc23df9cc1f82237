import assert from 'node:assert/strict'
import { test } from 'node:test'
import { phrasesFor } from '../../models/builtin/phrases/phrases.ts'
import type { Language } from '../../text/languages/language.ts'
import type { TalkLanguage } from '../../text/talk/talk-words.ts'
import type { TranscriptMessage } from '../records/queries.ts'
import { askedText, understand } from './understand.ts'

const NO_AGENT = { documents: null, instructions: '' }

/** A transcript whose messages alternate, with one of the customer at its end. */
const talk = (...texts: string[]): TranscriptMessage[] =>
  texts.map((text, at) => ({
    role: (texts.length - at) % 2 === 1 ? 'user' : 'assistant',
    parts: [{ type: 'text', text }],
  }))

function wants(...texts: string[]) {
  const transcript = talk(...texts)
  return understand(askedText(transcript), transcript, NO_AGENT)
}

test('all messages since the last answer are read together', () => {
  const user = (text: string): TranscriptMessage => ({ role: 'user', parts: [{ type: 'text', text }] })
  const transcript = [...talk('Hi', 'Hello!'), user('How much is delivery?'), user('Thanks!'), user('hello?')]
  // The transcript of `talk` ends with a message of the customer.
  const waiting = askedText([user('Hi'), { ...user('Hello!'), role: 'assistant' }, ...transcript.slice(2)])
  assert.equal(waiting, 'How much is delivery?\nThanks!\nhello?')
  const { kind, question } = understand(waiting, transcript, NO_AGENT)
  assert.deepEqual([kind, question], ['question', 'How much is delivery?'])
})

test('a yes after an offer is a request for a person, in the language of the offer', () => {
  const accepted: [TalkLanguage, string][] = [
    ['en', 'ok'],
    ['nl', 'ja graag'],
    ['pt', 'Sim, por favor'],
    ['pl', 'Tak'],
    ['de', 'ok'],
    ['sv', 'ja tack'],
    ['da', 'ja tak'],
    ['no', 'ja takk'],
    ['fi', 'kyllä kiitos'],
    ['cs', 'ano prosím'],
    ['uk', 'так'],
    ['hi', 'हाँ'],
    ['fr', '👍'],
    ['ko', '네'],
  ]
  for (const [offered, yes] of accepted) {
    const { decline, offer } = phrasesFor(offered)
    const { kind, language } = wants('?', `${decline} ${offer}`, yes)
    assert.deepEqual([kind, language], ['person', offered], `${offered} ${yes}`)
  }
  const { decline, offer } = phrasesFor('en')
  for (const [said, kind] of [
    ['no thanks', 'refusal'],
    ['thanks anyway', 'thanks'],
    ['no', 'refusal'],
    ['How much is delivery?', 'question'],
    ['👎', 'complaint'],
  ] as const)
    assert.equal(wants('?', `${decline} ${offer}`, said).kind, kind, said)
  assert.equal(wants('Hi', phrasesFor('en').hello, 'yes').kind, 'yes')
})

test('a request for a person is answered in its own language', () => {
  const requests: [TalkLanguage, string][] = [
    ['da', 'Jeg vil gerne tale med et menneske'],
    ['no', 'Jeg vil gjerne snakke med et menneske nå'],
    ['sv', 'Jag vill prata med en människa'],
    ['nl', 'Kan ik met een medewerker spreken?'],
    ['de', 'Mitarbeiter bitte'],
    ['uk', 'Хочу поговорити з людиною'],
  ]
  for (const [language, text] of requests)
    assert.deepEqual([wants(text).kind, wants(text).language], ['person', language], text)
})

test('the conversation tells the language, then the documents, then the instructions', () => {
  const german = ['Was kostet der Versand?', 'Er kostet 5 Euro. [1]'] as const
  assert.equal(wants(...german, 'hi').language, 'de')
  assert.equal(wants(...german, 'Versand?').language, 'de')
  assert.equal(wants('Hi', phrasesFor('da').hello, 'hej').language, 'da')
  const first = (text: string, agent: { documents?: Language; instructions?: string }) =>
    understand(text, talk(text), { ...NO_AGENT, ...agent }).language
  assert.equal(first('Hallo', { documents: 'nl' }), 'nl')
  assert.equal(first('👋', { instructions: 'Antworte immer freundlich und in kurzen Sätzen.' }), 'de')
  assert.equal(first('Bonjour', { documents: 'de' }), 'fr')
})
