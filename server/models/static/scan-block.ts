import { scaleFor } from './compact-vector.ts'
import { createDotKernel, DOT_MEMORY_BYTES } from './dot-kernel.ts'

/** Most numbers of a vector that can be scanned. */
export const MOST_DIMENSIONS = 10_000

const OUT = 10_016
const ROWS = OUT + 1_024

// Scratch: nothing in it outlives a call.
const kernel = createDotKernel()
const numbers = new Int8Array(kernel.memory.buffer)
const sums = new Int32Array(kernel.memory.buffer)

/**
 * Writes the cosines of a compact vector with the compact rows of a block (`stride` bytes each, zeros after the
 * vector's end, at most 256 of them) to `cosines`, from `offset` on.
 */
export function scanBlock(
  vector: Int8Array,
  block: Int8Array,
  stride: number,
  cosines: Float32Array,
  offset: number,
): void {
  if (block.length > DOT_MEMORY_BYTES - ROWS) throw new RangeError('The block is too large to be scanned.')
  numbers.set(vector)
  numbers.fill(0, vector.length, stride)
  numbers.set(block, ROWS)
  kernel.dot(0, ROWS, ROWS + block.length, stride, OUT)
  const count = block.length / stride
  const scale = scaleFor(vector.length) ** 2
  for (let row = 0; row < count; row++) cosines[offset + row] = sums[OUT / 4 + row]! / scale
}
