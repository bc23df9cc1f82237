import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addressBucket } from './address-bucket.ts'

test('an IPv4 address counts alone, also as IPv6 writes it; of IPv6 the subscriber counts', () => {
  assert.equal(addressBucket('203.0.113.9'), '203.0.113.9')
  assert.equal(addressBucket('::ffff:203.0.113.9'), '203.0.113.9')
  assert.equal(addressBucket('2001:db8:1:2::1'), addressBucket('2001:0db8:0001:0002:ffff:ffff:ffff:ffff'))
  assert.notEqual(addressBucket('2001:db8:1:2::1'), addressBucket('2001:db8:1:3::1'))
  assert.equal(addressBucket('unknown'), 'unknown')
})
