import { strideOf } from './scan-block.ts'
import { createDotKernel } from './scan-kernels.ts'

/** The maximum number of dimensions of a vector. */
export const MOST_NUMBERS = 128
const OUT = MOST_NUMBERS
const ROWS = OUT + 4 * 1_024
const MOST_BYTES = 56 * 1_024
const kernels = new Map<number, (vector: Int8Array, rows: Int8Array) => number>()

/**
 * Returns the greatest dot product of a byte vector with the rows, which follow each other without a gap; 0 if none is
 * positive.
 */
export function greatestProduct(vector: Int8Array, rows: Int8Array): number {
  let kernel = kernels.get(vector.length)
  if (!kernel) {
    kernel = createGreatest(vector.length)
    kernels.set(vector.length, kernel)
  }
  return kernel(vector, rows)
}

function createGreatest(dimensions: number): (vector: Int8Array, rows: Int8Array) => number {
  if (dimensions > MOST_NUMBERS) throw new RangeError('The vector is too long.')
  const stride = strideOf(dimensions)
  const { memory, scan } = createDotKernel(ROWS + MOST_BYTES + stride, stride)
  const numbers = new Int8Array(memory.buffer)
  const products = new Int32Array(memory.buffer, OUT)
  const most = Math.floor(Math.min(MOST_BYTES, 1_024 * dimensions) / dimensions) * dimensions
  return (vector, rows) => {
    // The query is padded with zeros, so reading each row beyond its end does not change the product.
    numbers.set(vector)
    let greatest = 0
    for (let from = 0; from < rows.length; from += most) {
      const part = rows.length <= most ? rows : rows.subarray(from, from + most)
      numbers.set(part, ROWS)
      scan(0, ROWS, ROWS + part.length, dimensions, OUT)
      const count = part.length / dimensions
      for (let i = 0; i < count; i++) if (products[i]! > greatest) greatest = products[i]!
    }
    return greatest
  }
}
