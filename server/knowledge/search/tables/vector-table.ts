import { compactCosine, scaleFor, writeCompact } from '../../../models/static/compact-vector.ts'
import { scanBlock, strideOf } from '../../../models/static/scan-block.ts'

/** Rows of one block; tables grow by blocks, so that growing copies nothing. */
const ROWS = 64

/** One compact vector for each slot, in blocks for exact scans; a slot without one has a row of zeros. */
export type VectorTable = { readonly dimensions: number; readonly blocks: Int8Array<ArrayBuffer>[] }

export function createVectorTable(dimensions: number): VectorTable {
  return { dimensions, blocks: [] }
}

/** Stores a unit-length vector of the table's dimensions for a slot; null takes away what a former chunk left. */
export function setVector(table: VectorTable, slot: number, vector: Float32Array | null): void {
  const stride = strideOf(table.dimensions)
  while (table.blocks.length * ROWS <= slot) table.blocks.push(new Int8Array(ROWS * stride))
  const block = table.blocks[Math.floor(slot / ROWS)]!
  const start = (slot % ROWS) * stride
  if (vector) writeCompact(vector, block, start)
  else block.fill(0, start, start + stride)
}

/** Cosines of a compact vector with those of all slots below `count`; 0 where there is none. */
export function cosinesOf(table: VectorTable, vector: Int8Array, count: number): Float32Array {
  const stride = strideOf(table.dimensions)
  const dots = new Int32Array(Math.ceil(count / ROWS) * ROWS)
  const used = table.blocks.slice(0, Math.ceil(count / ROWS))
  for (const [index, block] of used.entries()) scanBlock(vector, block, stride, dots, index * ROWS)
  const scale = scaleFor(table.dimensions) ** 2
  return new Float32Array(dots).map((dot) => dot / scale)
}

/** Cosine of a compact vector with that of one slot. */
export function cosineOf(table: VectorTable, vector: Int8Array, slot: number): number {
  const stride = strideOf(table.dimensions)
  const block = table.blocks[Math.floor(slot / ROWS)]
  return block ? compactCosine(vector, block, (slot % ROWS) * stride) : 0
}

export function bytesOfVectors({ blocks }: VectorTable): number {
  return blocks.reduce((sum, { byteLength }) => sum + byteLength, 0)
}
