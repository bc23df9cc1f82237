import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { MOST_BYTES, MOST_ROWS, scanBits, scanBlocks, strideOf } from './scan-block.ts'

test('the scan matches plain arithmetic for any size and values', () => {
  const value = fc.integer({ min: -128, max: 127 })
  const sizes = fc.tuple(fc.integer({ min: 1, max: 170 }), fc.integer({ min: 0, max: 9 }))
  fc.assert(
    fc.property(sizes, fc.array(value, { minLength: 700, maxLength: 700 }), ([dimensions, rows], values) => {
      const vector = Int8Array.from(values.slice(0, dimensions))
      const stride = strideOf(dimensions)
      const block = new Int8Array(rows * stride)
      for (let row = 0; row < rows; row++) {
        for (let i = 0; i < dimensions; i++) block[row * stride + i] = values[(row * 31 + i * 7) % 700]!
      }
      const dots = new Int32Array(rows + 1).fill(5)
      const cut = Math.floor(rows / 3) * stride
      scanBlocks(vector, [block.subarray(0, cut), block.subarray(cut)], stride, dots)
      const expected = Array.from({ length: rows }, (_, row) =>
        vector.reduce((sum, number, i) => sum + number * block[row * stride + i]!, 0),
      )
      assert.deepEqual([...dots], [...expected, 5])
    }),
  )
})

test('the largest vectors do not overflow, and larger ones are rejected', () => {
  const dots = new Int32Array(1)
  const most = new Int8Array(10_000).fill(-128)
  const row = new Int8Array(strideOf(10_000))
  row.set(most)
  scanBlocks(most, [row], row.length, dots)
  assert.equal(dots[0], 10_000 * 128 * 128)
  assert.throws(() => scanBlocks(new Int8Array(20_000), [], 20_000, dots), RangeError)
  assert.throws(
    () => scanBlocks(most.subarray(0, 16), [new Int8Array((MOST_ROWS + 1) * 16)], 16, dots),
    RangeError,
  )
  assert.throws(
    () => scanBlocks(most.subarray(0, 64), [new Int8Array(MOST_BYTES + 64)], 64, dots),
    RangeError,
  )
})

test('many blocks are scanned in parts', () => {
  const rows = MOST_ROWS * 2 + 3
  const blocks = Array.from({ length: rows }, (_, row) => new Int8Array(16).fill(row % 100))
  const dots = new Int32Array(rows)
  scanBlocks(Int8Array.of(1, 2), blocks, 16, dots)
  assert.deepEqual(
    [...dots],
    blocks.map((_, row) => (row % 100) * 3),
  )
})

test('counts of differing bits match plain arithmetic for any size', () => {
  // The kernel of a row with more than 31 steps of 16 bytes is another one.
  const sizes = fc.constantFrom(16, 48, 31 * 16, 32 * 16)
  const cases = sizes.chain((stride) =>
    fc.record({
      asked: fc.uint8Array({ minLength: stride - 15, maxLength: stride }),
      kept: fc.array(fc.uint8Array({ minLength: stride, maxLength: stride }), { maxLength: 9 }),
      stride: fc.constant(stride),
    }),
  )
  fc.assert(
    fc.property(cases, ({ asked, kept, stride }) => {
      const different = new Int32Array(kept.length + 1).fill(5)
      scanBits(asked, kept, stride, different)
      const ones = (byte: number): number => byte.toString(2).replaceAll('0', '').length
      const expected = kept.map((row) => row.reduce((sum, byte, i) => sum + ones(byte ^ (asked[i] ?? 0)), 0))
      assert.deepEqual([...different], [...expected, 5])
    }),
  )
})

test('the bits of the largest vectors do not overflow', () => {
  const different = new Int32Array(1)
  for (const bytes of [31 * 16, 1_264]) {
    scanBits(new Uint8Array(bytes).fill(255), [new Uint8Array(bytes)], bytes, different)
    assert.equal(different[0], bytes * 8)
  }
})
