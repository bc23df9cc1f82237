import assert from 'node:assert/strict'
import { test } from 'node:test'
import { splitSentences } from './words.ts'

test('abbreviations do not end a sentence', () => {
  assert.deepEqual(splitSentences('Ask Dr. Miller, e.g. by phone. He answers.', 'en'), [
    'Ask Dr. Miller, e.g. by phone.',
    'He answers.',
  ])
  assert.deepEqual(splitSentences('Das gilt z.B. für Räder. Auch z. B. Körbe bzw. Taschen. Ende.', 'de'), [
    'Das gilt z.B. für Räder.',
    'Auch z. B. Körbe bzw. Taschen.',
    'Ende.',
  ])
})

test('a German ordinal does not end a sentence', () => {
  assert.deepEqual(splitSentences('Wir buchen am 3. Mai ab. Danke.', 'de'), [
    'Wir buchen am 3. Mai ab.',
    'Danke.',
  ])
})

test('line breaks and Japanese full stops end a sentence', () => {
  assert.deepEqual(splitSentences('First line\nSecond line', 'en'), ['First line', 'Second line'])
  assert.deepEqual(splitSentences('返品は三十日以内です。送料は無料です。', 'other'), [
    '返品は三十日以内です。',
    '送料は無料です。',
  ])
})

test('a text without words or ends is returned unchanged', () => {
  assert.deepEqual(splitSentences('', 'en'), [])
  assert.deepEqual(splitSentences(' \n ', 'en'), [])
  assert.deepEqual(splitSentences('no end', 'en'), ['no end'])
})
