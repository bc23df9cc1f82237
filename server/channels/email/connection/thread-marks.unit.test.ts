import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import {
  markedAddress,
  markOf,
  messageIdOf,
  newPeer,
  peerFrom,
  peerOfAddress,
  peerOfMark,
  readMessageId,
} from './thread-marks.ts'

const key = randomBytes(32)

test('a mark identifies its thread, ignoring case', () => {
  for (let round = 0; round < 50; round++) {
    const peer = round % 2 ? newPeer() : peerFrom(key, `ticket ${round}`)
    const id = randomUUID()
    const address = markedAddress(key, 'support@shop.example', peer) ?? ''
    assert.equal(peerOfAddress(key, address), peer)
    assert.equal(peerOfAddress(key, address.toUpperCase()), peer)
    assert.deepEqual(readMessageId(key, messageIdOf(key, id, peer, 'shop.example')), { deliveryId: id, peer })
  }
})

test('a mark that is invented, modified, or signed with another key identifies nothing', () => {
  const mark = markOf(key, newPeer())
  assert.equal(peerOfMark(randomBytes(32), mark), null)
  for (let at = 0; at < mark.length; at++) {
    const changed = mark.slice(0, at) + (mark[at] === 'a' ? 'b' : 'a') + mark.slice(at + 1)
    assert.equal(peerOfMark(key, changed), null)
  }
  for (const wrong of ['', 'abc', `${mark}a`, mark.slice(1)]) assert.equal(peerOfMark(key, wrong), null)
  assert.equal(readMessageId(key, `<${randomUUID()}@shop.example>`), null)
})

test('an address that would become too long gets no mark', () => {
  assert.equal(markedAddress(key, `${'a'.repeat(40)}@shop.example`, newPeer()), null)
})
