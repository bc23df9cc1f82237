import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Language } from '../../platform/text/languages/language.ts'
import type { TranscriptMessage } from '../records/queries.ts'
import { askedText, languageFor, talkOf } from './prepare.ts'

const said = (role: 'user' | 'assistant', text: string): TranscriptMessage => ({
  role,
  parts: [{ type: 'text', text }],
})

test('all messages since the last answer are answered together', () => {
  const transcript = [said('user', 'Hi'), said('assistant', 'Hello!'), said('user', 'How much is delivery?')]
  assert.equal(askedText([...transcript, said('user', 'To Vienna')]), 'How much is delivery?\nTo Vienna')
  assert.equal(askedText([...transcript, said('assistant', 'Let me look.')]), 'How much is delivery?')
})

test('names of files, places of pictures and a signature are not searched', () => {
  const searched = (text: string) => talkOf([said('user', text)])[0]?.text
  assert.equal(searched('Is this broken?\n[lamp [1].jpg]\n[invoice.pdf]'), 'Is this broken?')
  assert.equal(searched('See [cid:image001.png@01DB] here'), 'See  here')
  assert.equal(searched('Where is it?\n\n-- \nAnna Berg\nSales lamps'), 'Where is it?')
  assert.equal(searched('What is argv[2]?'), 'What is argv[2]?')
  assert.equal(searched('[photo.jpg]'), '')
})

test('the message tells the language, then the conversation, then the documents', async () => {
  const language = (texts: string[], documents: Language[] = []) =>
    languageFor(
      texts.map((text) => ({ role: 'user', text })),
      async () => documents,
    )
  assert.equal(await language(['What does delivery cost?', 'Was kostet der Versand nach Wien?']), 'de')
  assert.equal(await language(['Was kostet der Versand nach Wien?', 'Paket?'], ['fr']), 'de')
  assert.equal(await language(['👋'], ['fr', 'en']), 'fr')
  assert.equal(await language(['hi']), 'en')
  assert.equal(await language(['Vad kostar det att skicka ett paket till er?'], ['de']), 'en')
})
