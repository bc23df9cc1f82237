import assert from 'node:assert/strict'
import { test } from 'node:test'
import { densePairs, isDense, splitDense } from './language.ts'

test('a script without spaces results in pairs of characters, and other parts stay whole', () => {
  assert.deepEqual(densePairs('東京駅'), ['東京', '京駅'])
  assert.deepEqual(densePairs('usb端子2'), ['usb', '端子', '2'])
  assert.ok(isDense('usb端子2') && !isDense('usb2'))
  assert.deepEqual(splitDense('usb端子2'), [
    { text: 'usb', start: 0, dense: false },
    { text: '端子', start: 3, dense: true },
    { text: '2', start: 5, dense: false },
  ])
})
