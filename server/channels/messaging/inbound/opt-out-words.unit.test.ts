import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readWord } from './opt-out-words.ts'

test('a whole message opts out or in, ignoring case, accents and a full stop', () => {
  for (const text of [
    'STOP',
    'stop',
    ' Stop. ',
    'Stopp!',
    'ABMELDEN',
    'Arrêt',
    'arret',
    'Opt-Out',
    'stop  all',
  ])
    assert.equal(readWord(text)?.word, 'out', text)
  for (const text of ['START', 'start', 'Anmelden', 'Unstop']) assert.equal(readWord(text)?.word, 'in', text)
  assert.match(readWord('Stopp')?.confirmation ?? '', /keine Nachrichten/)
})

test('a sentence that contains such a word does neither', () => {
  for (const text of [
    '',
    '!!!',
    'Please stop',
    'How do I unsubscribe?',
    'cancel',
    'end',
    '停',
    'stop it',
    'x'.repeat(1_000),
  ])
    assert.equal(readWord(text), null, text)
})
