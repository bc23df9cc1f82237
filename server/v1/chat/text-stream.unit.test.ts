import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frameOf } from '../../conversations/stream/reading.ts'
import { plainText, wireOf } from './text-stream.ts'

test('a character split into two surrogates is written whole', () => {
  const shape = wireOf(plainText, () => true).shape?.()
  const words = ['a\uD83D', '\uDE00b'].map(
    (delta, i) => shape?.textOf(frameOf(i, { type: 'text-delta', id: 'text-1', delta })) ?? '',
  )
  assert.equal(Buffer.from(words.join('')).toString(), 'a\u{1F600}b')
  for (const word of words) assert.ok(word.isWellFormed(), JSON.stringify(word))
})
