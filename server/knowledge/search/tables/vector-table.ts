import { compactCosine, scaleFor, writeCompact } from '../../../models/static/compact-vector.ts'
import { scanBits, scanBlocks, strideOf } from '../../../models/static/scan-block.ts'

/** The rows of one block. Tables grow by blocks, so that growing copies nothing. */
const ROWS = 64
/** For vectors with at least this many dimensions, the signs are compared first. */
const LONG = 768

/**
 * Stores one compact vector for each slot, in blocks for scans; a slot without one has a row of zeros. For long
 * vectors, the signs of the numbers are also stored as bits, in separate blocks.
 */
export type VectorTable = {
  readonly dimensions: number
  readonly blocks: Int8Array<ArrayBuffer>[]
  /** The bytes of a row in `signs`; 0 for vectors that are not long. */
  readonly signBytes: number
  readonly signs: Uint8Array<ArrayBuffer>[]
}

export function createVectorTable(dimensions: number): VectorTable {
  const signBytes = dimensions >= LONG ? strideOf(Math.ceil(dimensions / 8)) : 0
  return { dimensions, blocks: [], signBytes, signs: [] }
}

/** Stores a unit-length vector of the table's dimensions for a slot; null clears the vector of an earlier chunk. */
export function setVector(table: VectorTable, slot: number, vector: Float32Array | null): void {
  const { blocks, signs, signBytes } = table
  const stride = strideOf(table.dimensions)
  while (blocks.length * ROWS <= slot) {
    blocks.push(new Int8Array(ROWS * stride))
    if (signBytes > 0) signs.push(new Uint8Array(ROWS * signBytes))
  }
  const index = Math.floor(slot / ROWS)
  const block = blocks[index]!
  const start = (slot % ROWS) * stride
  if (vector) writeCompact(vector, block, start)
  else block.fill(0, start, start + stride)
  if (signBytes > 0) {
    const row = block.subarray(start, start + table.dimensions)
    signs[index]!.set(signsOf(row, signBytes), (slot % ROWS) * signBytes)
  }
}

/** Returns one bit for each number, which is 1 for a negative one. */
function signsOf(vector: Int8Array, bytes: number): Uint8Array {
  const bits = new Uint8Array(bytes)
  for (let i = 0; i < vector.length; i++) if (vector[i]! < 0) bits[i >> 3]! |= 1 << (i & 7)
  return bits
}

/** Returns the cosines of a compact vector with those of all slots below `count`; 0 for a slot without one. */
export function cosinesOf(
  { dimensions, blocks }: VectorTable,
  vector: Int8Array,
  count: number,
): Float32Array {
  const dots = new Int32Array(Math.ceil(count / ROWS) * ROWS)
  const stride = strideOf(dimensions)
  scanBlocks(vector, blocks.slice(0, Math.ceil(count / ROWS)), stride, dots)
  const scale = scaleFor(dimensions) ** 2
  const cosines = new Float32Array(dots.length)
  for (let slot = 0; slot < dots.length; slot++) cosines[slot] = dots[slot]! / scale
  return cosines
}

/** The most blocks of which the cosines are a sample of all. */
const SAMPLED = 8

/** Returns the cosines of evenly spread slots below `count`, in no order; those of all slots if there are few. */
export function sampleCosines(
  { dimensions, blocks }: VectorTable,
  vector: Int8Array,
  count: number,
): { slot: number; cosine: number }[] {
  const filled = Math.ceil(count / ROWS)
  const taken = Math.min(filled, SAMPLED)
  const places = Array.from({ length: taken }, (_, i) => Math.floor((i * filled) / taken))
  const dots = new Int32Array(taken * ROWS)
  scanBlocks(
    vector,
    places.map((place) => blocks[place]!),
    strideOf(dimensions),
    dots,
  )
  const scale = scaleFor(dimensions) ** 2
  const found = Array.from(dots, (dot, i) => ({
    slot: places[Math.floor(i / ROWS)]! * ROWS + (i % ROWS),
    cosine: dot / scale,
  }))
  return found.filter(({ slot }) => slot < count)
}

/**
 * Returns `limit` of the slots below `count` that `isWanted`, whose numbers have most often the same sign as those of
 * another vector. This approximates the order by cosine and reads an eighth of the memory. Returns null for vectors that
 * are not long.
 */
export function nearestBySigns(
  { dimensions, signBytes, signs }: VectorTable,
  vector: Int8Array,
  count: number,
  isWanted: (slot: number) => boolean,
  limit: number,
): number[] | null {
  if (signBytes === 0) return null
  const asked = signsOf(vector, signBytes)
  const differing = new Int32Array(Math.ceil(count / ROWS) * ROWS)
  scanBits(asked, signs.slice(0, Math.ceil(count / ROWS)), signBytes, differing)
  // The differences are small numbers, so counting them tells which are the smallest without sorting.
  const frequency = new Int32Array(dimensions + 1)
  for (let slot = 0; slot < count; slot++) if (isWanted(slot)) frequency[differing[slot]!]!++
  let most = 0
  let below = 0
  while (most < dimensions && below + frequency[most]! < limit) below += frequency[most++]!
  let atMost = limit - below
  const nearest: number[] = []
  for (let slot = 0; slot < count; slot++) {
    const here = differing[slot]!
    if (here > most || !isWanted(slot)) continue
    if (here < most || atMost-- > 0) nearest.push(slot)
  }
  return nearest
}

/** Returns the cosines of a compact vector with those of the given slots. */
export function cosinesAt(
  { dimensions, blocks }: VectorTable,
  vector: Int8Array,
  slots: readonly number[],
): Float64Array {
  const stride = strideOf(dimensions)
  const rows = slots.map((slot) => {
    const start = (slot % ROWS) * stride
    return blocks[Math.floor(slot / ROWS)]!.subarray(start, start + stride)
  })
  const dots = new Int32Array(slots.length)
  scanBlocks(vector, rows, stride, dots)
  const scale = scaleFor(dimensions)
  return Float64Array.from(dots, (dot) => dot / (scale * scale))
}

/** Returns the cosine of a compact vector with that of one slot. */
export function cosineOf(table: VectorTable, vector: Int8Array, slot: number): number {
  const stride = strideOf(table.dimensions)
  const block = table.blocks[Math.floor(slot / ROWS)]
  return block ? compactCosine(vector, block, (slot % ROWS) * stride) : 0
}

export function bytesOfVectors({ blocks, signs }: VectorTable): number {
  return [...blocks, ...signs].reduce((sum, { byteLength }) => sum + byteLength, 0)
}
