import { createDotKernel } from './dot-kernel.ts'

const MEMORY_BYTES = 24 * 65_536
const OUT = 10_016
const ROWS = OUT + 4 * 8_192
/** Most bytes that a block may have, and most rows. */
const BLOCK_BYTES = MEMORY_BYTES - ROWS
export const BLOCK_ROWS = 8_192

// Scratch: nothing in it outlives a call.
const kernel = createDotKernel(MEMORY_BYTES)
const numbers = new Int8Array(kernel.memory.buffer)
const sums = new Int32Array(kernel.memory.buffer)

/**
 * Writes the dot products of a vector of bytes (at most 10,000) with the rows of a block to `dots`, from `offset`
 * on. A row has `stride` bytes, a multiple of 16: the vector's length, and zeros.
 */
export function scanBlock(
  vector: Int8Array,
  block: Int8Array,
  stride: number,
  dots: Int32Array,
  offset: number,
): void {
  const rows = block.length / stride
  if (vector.length > stride || stride > OUT || rows > BLOCK_ROWS || block.length > BLOCK_BYTES)
    throw new RangeError('The block is too large to be scanned.')
  numbers.set(vector)
  numbers.fill(0, vector.length, stride)
  numbers.set(block, ROWS)
  kernel.dot(0, ROWS, ROWS + block.length, stride, OUT)
  dots.set(sums.subarray(OUT / 4, OUT / 4 + rows), offset)
}

/** Bytes of a row of so many numbers. */
export const strideOf = (dimensions: number): number => Math.ceil(dimensions / 16) * 16
