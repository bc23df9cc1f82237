import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { greatestProduct, MOST_NUMBERS } from './best-row.ts'

test('the greatest product matches plain arithmetic for any number of rows', () => {
  const value = fc.integer({ min: -128, max: 127 })
  const numbers = fc.array(value, { minLength: 128, maxLength: 128 })
  const sizes = fc.tuple(fc.constantFrom(1, 16, 100, 127, 128), fc.constantFrom(0, 1, 9, 700, 1_500))
  fc.assert(
    fc.property(sizes, numbers, numbers, ([dimensions, count], vector, values) => {
      const asked = Int8Array.from(vector.slice(0, dimensions))
      const rows = Int8Array.from(
        { length: count * dimensions },
        (_, i) => values[(i * 31) % 128]! >> (i % 5),
      )
      const products = Array.from({ length: count }, (_, row) =>
        asked.reduce((sum, number, i) => sum + number * rows[row * dimensions + i]!, 0),
      )
      assert.equal(greatestProduct(asked, rows), Math.max(0, ...products))
    }),
    { numRuns: 30 },
  )
})

test('a longer vector is rejected', () => {
  assert.throws(() => greatestProduct(new Int8Array(MOST_NUMBERS + 1), new Int8Array(0)), RangeError)
})
