import { strideOf } from './scan-block.ts'
import { createDotKernel } from './scan-kernels.ts'

/** Dot products of rows of a table. A returned array is valid until the next call. */
export type RowProducts = {
  /** Multiplies a row with every row of the table, including itself. */
  withAll(row: number): Int32Array
  /**
   * Prepares a few rows (-1 stands for a row of zeros) and returns a function that multiplies a row with each of them.
   */
  withEach(few: readonly number[]): (row: number) => Int32Array
}

export const MOST_AT_ONCE = 64

/** The table is copied into the memory of a kernel, so that no data has to be moved for a multiplication. */
export function createRowProducts(values: Int8Array, dimensions: number): RowProducts {
  const count = values.length / dimensions
  const stride = strideOf(dimensions)
  const out = MOST_AT_ONCE * stride
  const table = out + strideOf(Math.max(count, MOST_AT_ONCE) * 4)
  const at = (row: number): number => table + row * stride

  const { memory, scan: dot } = createDotKernel(at(count), stride)
  const numbers = new Int8Array(memory.buffer)
  const products = new Int32Array(memory.buffer, out, Math.max(count, MOST_AT_ONCE))
  for (let row = 0; row < count; row++) {
    numbers.set(values.subarray(row * dimensions, (row + 1) * dimensions), at(row))
  }
  return {
    withAll(row) {
      dot(at(row), table, at(count), stride, out)
      return products
    },
    withEach(few) {
      if (few.length > MOST_AT_ONCE) throw new RangeError('Too many rows to be multiplied at once.')
      for (const [place, row] of few.entries()) {
        if (row < 0) numbers.fill(0, place * stride, (place + 1) * stride)
        else numbers.copyWithin(place * stride, at(row), at(row + 1))
      }
      return (row) => {
        dot(at(row), 0, few.length * stride, stride, out)
        return products
      }
    },
  }
}
