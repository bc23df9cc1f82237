import { createBitKernel, createDotKernel, type ScanKernel } from './scan-kernels.ts'

const MEMORY_BYTES = 24 * 65_536
const OUT = 10_016
const ROWS = OUT + 4 * 8_192
/** The most bytes and the most rows of a block. */
const BLOCK_BYTES = MEMORY_BYTES - ROWS
export const BLOCK_ROWS = 8_192

type Scan = (
  vector: ArrayBufferView,
  block: ArrayBufferView,
  stride: number,
  results: Int32Array,
  offset: number,
) => void

function scanWith(kernel: ScanKernel): Scan {
  // Scratch memory, in which nothing outlives a call.
  const bytes = new Uint8Array(kernel.memory.buffer)
  const written = new Int32Array(kernel.memory.buffer)
  return (vector, block, stride, results, offset) => {
    const rows = block.byteLength / stride
    if (vector.byteLength > stride || stride > OUT || rows > BLOCK_ROWS || block.byteLength > BLOCK_BYTES)
      throw new RangeError('The block is too large to be scanned.')
    bytes.set(bytesOf(vector))
    bytes.fill(0, vector.byteLength, stride)
    bytes.set(bytesOf(block), ROWS)
    kernel.scan(0, ROWS, ROWS + block.byteLength, stride, OUT)
    results.set(written.subarray(OUT / 4, OUT / 4 + rows), offset)
  }
}

const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength)

/**
 * Writes the dot products of a byte vector (at most 10,000) with the rows of a block to `dots`, from `offset` on. A row
 * has `stride` bytes, a multiple of 16: the vector followed by zeros.
 */
export const scanBlock: (
  vector: Int8Array,
  block: Int8Array,
  stride: number,
  dots: Int32Array,
  offset: number,
) => void = scanWith(createDotKernel(MEMORY_BYTES))

/** Does the same for the number of bits in which a bit row differs from the rows of the block. */
export const scanBits: (
  bits: Uint8Array,
  block: Uint8Array,
  stride: number,
  different: Int32Array,
  offset: number,
) => void = scanWith(createBitKernel(MEMORY_BYTES))

/** Returns the bytes of a row with this many numbers. */
export const strideOf = (dimensions: number): number => Math.ceil(dimensions / 16) * 16
