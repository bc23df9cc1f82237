import { strideOf } from './scan-block.ts'
import { createDotKernel } from './scan-kernels.ts'

/** Dot products of rows of a table. A returned array is valid until the next call. */
export type RowProducts = {
  /**
   * Multiplies a row with every row of the table, including itself, and calls `visit` with each one whose cosine with it
   * is at least `cosine`, and with a few others, in their order.
   */
  visitNear(row: number, cosine: number, visit: (other: number, product: number) => void): void
  /**
   * Prepares a few rows (-1 stands for a row of zeros) and returns a function that multiplies a row with each of them.
   */
  withEach(few: readonly number[]): (row: number) => Int32Array
}

export const MOST_AT_ONCE = 64

/** A factor that allows for the rounding of single-precision numbers. */
const ROUNDED = 0.999

/**
 * The table is copied into the memory of a kernel, so that no data has to be moved for a multiplication. `lengths` are
 * the Euclidean lengths of the rows.
 */
export function createRowProducts(
  values: Int8Array,
  dimensions: number,
  lengths: Float32Array = new Float32Array(values.length / dimensions),
): RowProducts {
  const count = values.length / dimensions
  const stride = strideOf(dimensions)
  const out = MOST_AT_ONCE * stride
  const numbersBytes = strideOf(Math.max(count, MOST_AT_ONCE) * 4)
  const table = out + numbersBytes
  const at = (row: number): number => table + row * stride
  const factor = at(count)
  const near = factor + 16
  const lengthsAt = near + numbersBytes

  const { memory, scan: dot, filter } = createDotKernel(lengthsAt + numbersBytes, stride)
  const factors = new Float32Array(memory.buffer, factor, 4)
  const groups = new Int32Array(memory.buffer, near, Math.ceil(count / 4) + 1)
  new Float32Array(memory.buffer, lengthsAt, count).set(lengths)
  const numbers = new Int8Array(memory.buffer)
  const products = new Int32Array(memory.buffer, out, Math.max(count, MOST_AT_ONCE))
  for (let row = 0; row < count; row++) {
    numbers.set(values.subarray(row * dimensions, (row + 1) * dimensions), at(row))
  }
  return {
    visitNear(row, cosine, visit) {
      dot(at(row), table, at(count), stride, out)
      factors.fill(cosine * lengths[row]! * ROUNDED)
      filter(factor, out, out + count * 4, lengthsAt - out, near)
      for (let i = 0; groups[i]! > 0; i++) {
        const first = (groups[i]! - out) / 4
        const end = Math.min(first + 4, count)
        for (let other = first; other < end; other++) visit(other, products[other]!)
      }
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
