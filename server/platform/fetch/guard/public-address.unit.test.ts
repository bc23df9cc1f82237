import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isPublicAddress } from './public-address.ts'

const closed = [
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '100.64.0.1',
  '100.100.100.200',
  '127.0.0.1',
  '127.255.255.254',
  '168.63.129.16',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.192',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.1.1',
  '198.18.0.1',
  '198.51.100.7',
  '203.0.113.9',
  '224.0.0.1',
  '239.255.255.250',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::7f00:1',
  '::127.0.0.1',
  '::ffff:127.0.0.1',
  '::ffff:a9fe:a9fe',
  '::ffff:8.8.8.8',
  '::ffff:0:808:808',
  '64:ff9b::a9fe:a9fe',
  '64:ff9b::8.8.8.8',
  '64:ff9b:1::1',
  '100::1',
  '2001::1',
  '2001:2::1',
  '2001:10::1',
  '2001:db8::1',
  '2002:7f00:1::',
  '2002:808:808::1',
  '3fff::1',
  '5f00::1',
  'fc00::1',
  'fd00:ec2::254',
  'fe80::1',
  'fe80::1%eth0',
  'fec0::1',
  'ff02::1',
  'localhost',
  '127.1',
  '0x7f000001',
  '',
]
const open = [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.0',
  '169.253.255.255',
  '172.15.255.255',
  '172.32.0.0',
  '192.167.255.255',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '2001:200::1',
  '2001:4860:4860::8888',
  '2606:4700::1111',
  '2a00::1',
]

test('special-purpose addresses are blocked, and their neighbours are not', () => {
  assert.deepEqual(closed.filter(isPublicAddress), [])
  assert.deepEqual(
    open.filter((address) => !isPublicAddress(address)),
    [],
  )
})

test('no IPv6 form that embeds an IPv4 address is permitted', () => {
  const group = fc.integer({ min: 0, max: 0xffff }).map((n) => n.toString(16))
  const carriers = ['::', '::ffff:', '::ffff:0:', '64:ff9b::', '64:ff9b:1::', '2002:']
  fc.assert(
    fc.property(fc.constantFrom(...carriers), group, group, (prefix, high, low) => {
      const address = prefix === '2002:' ? `2002:${high}:${low}::1` : `${prefix}${high}:${low}`
      assert.equal(isPublicAddress(address), false)
    }),
  )
})
