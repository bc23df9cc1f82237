import { scanBlocks, strideOf } from '../server/models/static/scan-block.ts'
import { LEAST_SIMILARITY, MOST_NEIGHBOURS } from '../server/models/static/word-neighbours.ts'

const ROWS_OF_BLOCK = 64

/**
 * Returns the table of neighbours of the rows of `values`: the number of neighbours of each row, one byte each, then
 * their rows, closest first, two bytes each.
 */
export function nearestWords(values: Int8Array, dimensions: number): Uint8Array {
  const count = values.length / dimensions
  const stride = strideOf(dimensions)
  const blocks: Int8Array[] = []
  for (let row = 0; row < count; row++) {
    if (row % ROWS_OF_BLOCK === 0) blocks.push(new Int8Array(ROWS_OF_BLOCK * stride))
    blocks.at(-1)!.set(rowOf(row), (row % ROWS_OF_BLOCK) * stride)
  }
  const lengths = Float32Array.from({ length: count }, (_, row) => Math.hypot(...rowOf(row)))
  const products = new Int32Array(blocks.length * ROWS_OF_BLOCK)
  const counts = new Uint8Array(count)
  const neighbours: number[] = []
  for (let row = 0; row < count; row++) {
    scanBlocks(rowOf(row), blocks, stride, products)
    const found: { other: number; similarity: number }[] = []
    for (let other = 0; other < count; other++) {
      const similarity = products[other]! / (lengths[row]! * lengths[other]! || 1)
      if (similarity >= LEAST_SIMILARITY && other !== row) found.push({ other, similarity })
    }
    found.sort((a, b) => b.similarity - a.similarity || a.other - b.other)
    const nearest = found.slice(0, MOST_NEIGHBOURS)
    counts[row] = nearest.length
    neighbours.push(...nearest.map(({ other }) => other))
  }
  return Buffer.concat([counts, new Uint8Array(Uint16Array.from(neighbours).buffer)])

  function rowOf(row: number): Int8Array {
    return values.subarray(row * dimensions, (row + 1) * dimensions)
  }
}
