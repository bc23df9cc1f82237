import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { qrMatrix } from '../../web/ui/qr-matrix.ts'

/** Codes that another library has decoded, by the hash of their modules. */
const READ_ELSEWHERE: [text: string, size: number, hash: string][] = [
  ['Parley', 21, '60ff63b54607acb49641ef9469defa8b8c525f70502e03565d8c0c263bfe9ac7'],
  [
    'otpauth://totp/Parley:ada%40example.com?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Parley&digits=6&period=30',
    45,
    '2af92a232a82f9e7736a925975b6bbdd09a141ef81c89d6755ff4bba642fb12a',
  ],
]

for (const [text, size, hash] of READ_ELSEWHERE)
  test(`a text of ${text.length} characters results in the code that another library has decoded`, () => {
    const rows = qrMatrix(text)
    assert.equal(rows.length, size)
    const modules = rows.map((row) => row.map(Number).join('')).join('\n')
    assert.equal(createHash('sha256').update(modules).digest('hex'), hash)
  })

test('a code has the smallest size that its text fits into, and at most 213 bytes', () => {
  assert.deepEqual(
    [1, 14, 15, 213].map((length) => qrMatrix('x'.repeat(length)).length),
    [21, 21, 25, 57],
  )
  assert.throws(() => qrMatrix('x'.repeat(214)), RangeError)
})
