import { createBitKernel, createDotKernel, type ScanKernel } from './scan-kernels.ts'

const OUT = 10_016
const ROWS = OUT + 4 * 8_192
/** The most bytes and the most rows that are copied and scanned at once; they fit into the processor's own memory. */
export const MOST_BYTES = 256 * 1_024
export const MOST_ROWS = 8_192
const MEMORY_BYTES = ROWS + MOST_BYTES

type Scan<Row extends Int8Array | Uint8Array> = (
  vector: Row,
  blocks: readonly Row[],
  stride: number,
  results: Int32Array,
) => void

/** A kernel and views of its memory, in which nothing outlives a call. */
type Scratch = { kernel: ScanKernel; bytes: Uint8Array; written: Int32Array }

function scratchOf(kernel: ScanKernel): Scratch {
  const { buffer } = kernel.memory
  return { kernel, bytes: new Uint8Array(buffer), written: new Int32Array(buffer) }
}

function scanWith(createKernel: (bytes: number, stride: number) => ScanKernel): Scan<Int8Array | Uint8Array> {
  const byStride = new Map<number, Scratch>()
  return (vector, blocks, stride, results) => {
    if (vector.byteLength > stride || stride > OUT)
      throw new RangeError('The vector is too large to be scanned.')
    let scratch = byStride.get(stride)
    if (!scratch) {
      scratch = scratchOf(createKernel(MEMORY_BYTES, stride))
      byStride.set(stride, scratch)
    }
    const { kernel, bytes, written } = scratch
    bytes.set(vector)
    bytes.fill(0, vector.byteLength, stride)
    const most = Math.min(MOST_BYTES, MOST_ROWS * stride)
    let filled = 0
    let done = 0
    const scan = (): void => {
      const rows = filled / stride
      kernel.scan(0, ROWS, ROWS + filled, stride, OUT)
      results.set(written.subarray(OUT / 4, OUT / 4 + rows), done)
      done += rows
      filled = 0
    }
    for (const block of blocks) {
      if (block.byteLength > most) throw new RangeError('The block is too large to be scanned.')
      if (filled + block.byteLength > most) scan()
      bytes.set(block, ROWS + filled)
      filled += block.byteLength
    }
    scan()
  }
}

/**
 * Writes the dot products of a byte vector (at most 10,000) with the rows of blocks to `dots`. A row has `stride`
 * bytes, a multiple of 16: the vector followed by zeros.
 */
export const scanBlocks: Scan<Int8Array> = scanWith(createDotKernel)

/** Writes the number of bits in which a bit row differs from each row of the blocks. */
export const scanBits: Scan<Uint8Array> = scanWith(createBitKernel)

/** Returns the bytes of a row with this many numbers. */
export const strideOf = (dimensions: number): number => Math.ceil(dimensions / 16) * 16
