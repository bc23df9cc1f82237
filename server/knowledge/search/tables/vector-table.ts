import { compactCosine, scaleFor, writeCompact } from '../../../models/static/compact-vector.ts'
import { scanBlock, strideOf } from '../../../models/static/scan-block.ts'

/** Rows of one block; tables grow by blocks, so that growing copies nothing. */
const ROWS = 64
/** Vectors of at least so many numbers are looked through by a part of them first. */
const LONG = 768
const PART = 4

/**
 * One compact vector for each slot, in blocks for scans; a slot without one has a row of zeros. Of long vectors, the
 * first quarter is kept a second time in blocks of its own.
 */
export type VectorTable = {
  readonly dimensions: number
  readonly blocks: Int8Array<ArrayBuffer>[]
  /** Numbers of a vector in `parts`; 0 for vectors that are not long. */
  readonly partLength: number
  readonly parts: Int8Array<ArrayBuffer>[]
}

export function createVectorTable(dimensions: number): VectorTable {
  const partLength = dimensions >= LONG ? strideOf(Math.ceil(dimensions / PART)) : 0
  return { dimensions, blocks: [], partLength, parts: [] }
}

/** Stores a unit-length vector of the table's dimensions for a slot; null takes away what a former chunk left. */
export function setVector(table: VectorTable, slot: number, vector: Float32Array | null): void {
  const { blocks, parts, partLength } = table
  const stride = strideOf(table.dimensions)
  while (blocks.length * ROWS <= slot) {
    blocks.push(new Int8Array(ROWS * stride))
    if (partLength > 0) parts.push(new Int8Array(ROWS * partLength))
  }
  const index = Math.floor(slot / ROWS)
  const block = blocks[index]!
  const start = (slot % ROWS) * stride
  if (vector) writeCompact(vector, block, start)
  else block.fill(0, start, start + stride)
  if (partLength > 0) parts[index]!.set(block.subarray(start, start + partLength), (slot % ROWS) * partLength)
}

/** Cosines of a compact vector with those of all slots below `count`; 0 where there is none. */
export function cosinesOf(
  { dimensions, blocks }: VectorTable,
  vector: Int8Array,
  count: number,
): Float32Array {
  return scanned(blocks, vector, strideOf(dimensions), count, scaleFor(dimensions) ** 2)
}

/**
 * The same by the first quarter of long vectors alone: a rough order, for which a quarter of the memory is read. null
 * for vectors that are not long.
 */
export function roughCosinesOf(table: VectorTable, vector: Int8Array, count: number): Float32Array | null {
  const { dimensions, partLength, parts } = table
  if (partLength === 0) return null
  return scanned(parts, vector.subarray(0, partLength), partLength, count, scaleFor(dimensions) ** 2)
}

function scanned(
  blocks: readonly Int8Array<ArrayBuffer>[],
  vector: Int8Array,
  stride: number,
  count: number,
  scale: number,
): Float32Array {
  const used = Math.min(Math.ceil(count / ROWS), blocks.length)
  const dots = new Int32Array(Math.ceil(count / ROWS) * ROWS)
  for (let index = 0; index < used; index++) scanBlock(vector, blocks[index]!, stride, dots, index * ROWS)
  const cosines = new Float32Array(dots.length)
  for (let slot = 0; slot < dots.length; slot++) cosines[slot] = dots[slot]! / scale
  return cosines
}

/** Cosine of a compact vector with that of one slot. */
export function cosineOf(table: VectorTable, vector: Int8Array, slot: number): number {
  const stride = strideOf(table.dimensions)
  const block = table.blocks[Math.floor(slot / ROWS)]
  return block ? compactCosine(vector, block, (slot % ROWS) * stride) : 0
}

export function bytesOfVectors({ blocks, parts }: VectorTable): number {
  return [...blocks, ...parts].reduce((sum, { byteLength }) => sum + byteLength, 0)
}
