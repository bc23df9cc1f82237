import { strideOf } from './scan-block.ts'
import { createListKernel } from './scan-kernels.ts'

/**
 * Multiplies each of the given rows (at most MOST_LISTED) with each of the few that were prepared, and returns the
 * products, row by row. The array is valid until the next call.
 */
type Multiply = (rows: ArrayLike<number>) => Int32Array

/** Dot products of rows of a table. */
export type RowProducts = {
  /** Prepares at most MOST_AT_ONCE rows; -1 stands for a row of zeros. The next call replaces them. */
  withEach(few: readonly number[]): Multiply
}

export const MOST_AT_ONCE = 64
export const MOST_LISTED = 128

/** The table is copied into the memory of a kernel, so that no data has to be moved for a multiplication. */
export function createRowProducts(values: Int8Array, dimensions: number): RowProducts {
  const count = values.length / dimensions
  const stride = strideOf(dimensions)
  const list = MOST_AT_ONCE * stride * 2
  const out = list + MOST_LISTED * 4
  const table = out + MOST_LISTED * MOST_AT_ONCE * 4
  const at = (row: number): number => table + row * stride

  const { memory, multiply } = createListKernel(at(count), stride)
  const numbers = new Int8Array(memory.buffer)
  const wide = new Int16Array(memory.buffer, 0, MOST_AT_ONCE * stride)
  const addresses = new Int32Array(memory.buffer, list, MOST_LISTED)
  const products = new Int32Array(memory.buffer, out, MOST_LISTED * MOST_AT_ONCE)
  for (let row = 0; row < count; row++) {
    numbers.set(values.subarray(row * dimensions, (row + 1) * dimensions), at(row))
  }
  return {
    withEach(few) {
      if (few.length > MOST_AT_ONCE) throw new RangeError('Too many rows to be multiplied at once.')
      wide.fill(0, 0, few.length * stride)
      for (const [place, row] of few.entries()) {
        if (row >= 0) wide.set(numbers.subarray(at(row), at(row) + stride), place * stride)
      }
      return (rows) => {
        if (rows.length > MOST_LISTED) throw new RangeError('Too many rows in the list.')
        for (let i = 0; i < rows.length; i++) addresses[i] = at(rows[i]!)
        if (few.length > 0) multiply(list, list + rows.length * 4, 0, few.length * stride * 2, out)
        return products
      }
    },
  }
}
