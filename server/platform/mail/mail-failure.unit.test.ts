import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeMailError } from './mail-failure.ts'

test('a certificate for other names is said with these names', () => {
  const said = (cert: object): string => {
    const error = Object.assign(new Error('mismatch'), { originalCode: 'ERR_TLS_CERT_ALTNAME_INVALID', cert })
    return describeMailError(error, 'mail.example').message
  }
  const subject = { CN: 'old.example' }
  assert.match(
    said({ subject, subjectaltname: 'DNS:a.example, DNS:b.example' }),
    /for a\.example, b\.example\. /,
  )
  assert.match(said({ subject }), /for old\.example\. /)
  assert.match(said({}), /for another name\. /)
})
