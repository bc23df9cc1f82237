import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createRowProducts, MOST_AT_ONCE, MOST_LISTED } from './row-products.ts'

test('products of rows match plain arithmetic', () => {
  const value = fc.integer({ min: -128, max: 127 })
  const sizes = fc.tuple(fc.integer({ min: 1, max: 128 }), fc.integer({ min: 1, max: 9 }))
  fc.assert(
    fc.property(
      sizes,
      fc.array(value, { minLength: 1_152, maxLength: 1_152 }),
      fc.array(fc.nat(9), { maxLength: 5 }),
      fc.array(fc.nat(8), { maxLength: MOST_LISTED }),
      ([dimensions, count], numbers, some, listed) => {
        const values = Int8Array.from(numbers.slice(0, dimensions * count))
        const few = some.map((row) => (row < count ? row : -1))
        const rows = listed.map((row) => row % count)
        const rowOf = (row: number): number[] =>
          Array.from({ length: dimensions }, (_, i) => values[row * dimensions + i] ?? 0)
        const product = (a: number, b: number): number =>
          b < 0 ? 0 : rowOf(a).reduce((sum, number, i) => sum + number * rowOf(b)[i]!, 0)

        const { withEach } = createRowProducts(values, dimensions)
        withEach([0])
        const products = withEach(few)(rows)
        const expected = rows.flatMap((row) => few.map((other) => product(row, other)))
        assert.deepEqual([...products.subarray(0, expected.length)], expected)
      },
    ),
    { numRuns: 60 },
  )
})

test('too many rows, and rows that are too long, are rejected', () => {
  const { withEach } = createRowProducts(new Int8Array(100), 100)
  withEach(new Array<number>(MOST_AT_ONCE).fill(0))(new Array<number>(MOST_LISTED).fill(0))
  assert.throws(() => withEach(new Array<number>(MOST_AT_ONCE + 1).fill(0)), RangeError)
  assert.throws(() => withEach([0])(new Array<number>(MOST_LISTED + 1).fill(0)), RangeError)
  assert.throws(() => createRowProducts(new Int8Array(129), 129), RangeError)
})
