import { BLOCK_BYTES, BLOCK_ROWS, scanBlock, strideOf } from './scan-block.ts'

export type Neighbour = { row: number; similarity: number }

const LEAST_SIMILARITY = 0.4
const MOST_NEIGHBOURS = 60
/** Words whose neighbours are remembered; a list takes about 3 KB. */
const REMEMBERED = 2_000

/** Finds the rows closest to a row by cosine: a scan of the table (half a millisecond), remembered for the words used last. */
export function createNeighbours(
  values: Int8Array,
  lengths: Float32Array,
  dimensions: number,
): (row: number) => readonly Neighbour[] {
  const known = new Map<number, readonly Neighbour[]>()
  const rows = paddedRows(values, dimensions)
  return (row) => {
    const found = known.get(row) ?? scan(rows, lengths, row)
    known.delete(row)
    known.set(row, found)
    if (known.size > REMEMBERED) known.delete(known.keys().next().value!)
    return found
  }
}

function scan(rows: PaddedRows, lengths: Float32Array, row: number): Neighbour[] {
  const { stride, blocks } = rows
  const own = blocks[Math.floor(row / rows.perBlock)]!.slice(
    (row % rows.perBlock) * stride,
    ((row % rows.perBlock) + 1) * stride,
  )
  const dots = new Int32Array(lengths.length)
  for (const [index, block] of blocks.entries()) scanBlock(own, block, stride, dots, index * rows.perBlock)
  const found: Neighbour[] = []
  for (let other = 0; other < lengths.length; other++) {
    const similarity = dots[other]! / (lengths[row]! * lengths[other]! || 1)
    if (similarity >= LEAST_SIMILARITY && other !== row) found.push({ row: other, similarity })
  }
  return found.sort((a, b) => b.similarity - a.similarity || a.row - b.row).slice(0, MOST_NEIGHBOURS)
}

type PaddedRows = { stride: number; perBlock: number; blocks: Int8Array[] }

/** A copy of the table as the scan takes it. */
function paddedRows(values: Int8Array, dimensions: number): PaddedRows {
  const stride = strideOf(dimensions)
  const perBlock = Math.min(BLOCK_ROWS, Math.floor(BLOCK_BYTES / stride))
  const count = values.length / dimensions
  const blocks: Int8Array[] = []
  for (let row = 0; row < count; row++) {
    if (row % perBlock === 0) blocks.push(new Int8Array(Math.min(perBlock, count - row) * stride))
    blocks.at(-1)!.set(values.subarray(row * dimensions, (row + 1) * dimensions), (row % perBlock) * stride)
  }
  return { stride, perBlock, blocks }
}
