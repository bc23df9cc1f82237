import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addressBucket, siteBucket } from './rate-limit.ts'

test('an IPv4 address counts by itself, also in IPv6 notation; IPv6 addresses count by subscriber', () => {
  assert.equal(addressBucket('203.0.113.9'), '203.0.113.9')
  assert.equal(addressBucket('::ffff:203.0.113.9'), '203.0.113.9')
  assert.equal(addressBucket('2001:db8:1:2::1'), addressBucket('2001:0db8:0001:0002:ffff:ffff:ffff:ffff'))
  assert.notEqual(addressBucket('2001:db8:1:2::1'), addressBucket('2001:db8:1:3::1'))
  assert.equal(addressBucket('unknown'), 'unknown')
  assert.equal(siteBucket('2001:db8:1:2::1'), siteBucket('2001:db8:1:ffff::1'))
  assert.notEqual(siteBucket('2001:db8:1:2::1'), siteBucket('2001:db8:2:2::1'))
  for (const other of ['203.0.113.9', '::ffff:203.0.113.9', 'unknown']) assert.equal(siteBucket(other), null)
})
