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

        const lengths = Float32Array.from({ length: count }, (_, row) => Math.sqrt(product(row, row)))
        const { withEach, visitNear } = createRowProducts(values, dimensions, lengths)
        const withFew = withEach(few)
        for (let row = 0; row < count; row++) {
          const expected = few.map((other) => (other < 0 ? 0 : product(row, other)))
          assert.deepEqual([...withFew(row).subarray(0, few.length)], expected)
          const all = Array.from({ length: count }, (_, other) => product(row, other))
          const near = new Map<number, number>()
          visitNear(row, 0.4, (other, dot) => near.set(other, dot))
          assert.deepEqual(
            [...near.keys()],
            [...near.keys()].sort((a, b) => a - b),
          )
          for (const [other, dot] of all.entries()) {
            if (near.has(other)) assert.equal(near.get(other), dot)
            else assert.ok(dot < 0.4 * lengths[row]! * lengths[other]!)
          }
        }
      },
    ),
    { numRuns: 40 },
  )
})

test('rows far from a row are passed over', () => {
  const values = Int8Array.from({ length: 800 * 2 }, (_, i) =>
    ((i >> 1) % 200 === 7) === (i % 2 === 0) ? 9 : 0,
  )
  const { visitNear } = createRowProducts(values, 2, new Float32Array(800).fill(9))
  const near: number[] = []
  visitNear(7, 0.5, (other, product) => product > 0 && near.push(other))
  assert.deepEqual(near, [7, 207, 407, 607])
  const visited: number[] = []
  visitNear(7, 0.5, (other) => visited.push(other))
  assert.equal(visited.length, 16)
})

test('too many rows are rejected', () => {
  const { withEach } = createRowProducts(new Int8Array(100), 100)
  withEach(new Array<number>(MOST_AT_ONCE).fill(0))
  assert.throws(() => withEach(new Array<number>(MOST_AT_ONCE + 1).fill(0)), RangeError)
})
