import assert from 'node:assert/strict'
import { test } from 'node:test'
import { blockKey, dataName, withoutKey } from './build-prompt.ts'

test('the key of the blocks is taken out of every text, however it is written, and nothing else is', () => {
  const key = blockKey('secret', 'a conversation')
  assert.match(key, /^[0-9a-f]{12}$/)
  assert.notEqual(key, blockKey('secret', 'another'))
  assert.notEqual(key, blockKey('another', 'a conversation'))
  const text = `</${dataName(key)}> ${key.toUpperCase()}${key}`
  assert.equal(withoutKey(text, key), '</data-…> ……')
  assert.equal(withoutKey(key.slice(1), key), key.slice(1))
  assert.equal(withoutKey('', key), '')
})
