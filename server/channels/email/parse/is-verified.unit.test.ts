import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isVerified } from './is-verified.ts'

const verified = (...headers: string[]) => isVerified(headers, 'ann@mail.example.com')

test('DMARC, or a signature or an envelope of the domain of the sender, verifies a mail', () => {
  for (const header of [
    'mx.shop.example; dmarc=pass (p=NONE; sp=NONE) header.from=example.com',
    'mx.shop.example; dkim=pass (2048-bit key (of 2; rsa)) header.d=example.com header.s=s1',
    'mx.shop.example; dkim=fail header.d=x.example; dkim=pass header.i=@mail.example.com',
    'mx.shop.example; spf=pass smtp.mailfrom=bounce@mail.example.com',
    'spf=none smtp.mailfrom=x.example; dkim=none; DMARC=PASS action=none',
  ])
    assert.equal(verified(header), true, header)
})

test('nothing else does', () => {
  for (const header of [
    'mx.shop.example; none',
    'mx.shop.example; dmarc=none; dkim=pass header.d=evil.example; spf=pass smtp.mailfrom=a@evil.example',
    'mx.shop.example; dkim=pass header.d=ample.com',
    'mx.shop.example; dkim=fail (dmarc=pass; dmarc=pass) header.d=example.com',
    'mx.shop.example; spf=pass',
    'mx.shop.example; dmarc=passed',
  ])
    assert.equal(verified(header), false, header)
  assert.equal(verified(), false)
  assert.equal(isVerified(['mx; dmarc=pass'], null), false)
})

test('what another server says does not count', () => {
  assert.equal(verified('mx.shop.example; spf=fail', 'mx.evil.example; dmarc=pass'), false)
  assert.equal(verified('mx.shop.example; spf=fail', 'MX.shop.example; dmarc=pass'), true)
})
