import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createRowProducts, MOST_AT_ONCE } from './row-products.ts'

test('products of rows match plain arithmetic', () => {
  const value = fc.integer({ min: -128, max: 127 })
  const sizes = fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 9 }))
  fc.assert(
    fc.property(
      sizes,
      fc.array(value, { minLength: 360, maxLength: 360 }),
      fc.array(fc.nat(9), { maxLength: 5 }),
      ([dimensions, count], numbers, some) => {
        const values = Int8Array.from(numbers.slice(0, dimensions * count))
        const few = some.map((row) => (row < count ? row : -1))
        const rowOf = (row: number): number[] =>
          Array.from({ length: dimensions }, (_, i) => values[row * dimensions + i] ?? 0)
        const product = (a: number, b: number): number =>
          rowOf(a).reduce((sum, number, i) => sum + number * rowOf(b)[i]!, 0)

        const { withAll, withEach } = createRowProducts(values, dimensions)
        const withFew = withEach(few)
        for (let row = 0; row < count; row++) {
          const expected = few.map((other) => (other < 0 ? 0 : product(row, other)))
          assert.deepEqual([...withFew(row).subarray(0, few.length)], expected)
          const all = Array.from({ length: count }, (_, other) => product(row, other))
          assert.deepEqual([...withAll(row).subarray(0, count)], all)
        }
      },
    ),
    { numRuns: 40 },
  )
})

test('too many rows are rejected', () => {
  const { withEach } = createRowProducts(new Int8Array(100), 100)
  withEach(new Array<number>(MOST_AT_ONCE).fill(0))
  assert.throws(() => withEach(new Array<number>(MOST_AT_ONCE + 1).fill(0)), RangeError)
})
