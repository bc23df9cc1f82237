import type { RowProducts } from './row-products.ts'

export type Neighbour = { row: number; similarity: number }

/** The cosine from which two words are neighbours, and the maximum number of neighbours of a word. */
export const LEAST_SIMILARITY = 0.4
export const MOST_NEIGHBOURS = 60

/**
 * Reads the table of neighbours: for each row the number of its neighbours, one byte each, then their rows, closest
 * first, two bytes each. Looking for them in the vectors would take a quarter of a millisecond a word.
 */
export function createNeighbours(
  bytes: Uint8Array,
  { withEach }: RowProducts,
  lengths: Float32Array,
): (row: number) => readonly Neighbour[] {
  const counts = bytes.subarray(0, lengths.length)
  const starts = new Uint32Array(lengths.length + 1)
  for (let row = 0; row < lengths.length; row++) starts[row + 1] = starts[row]! + counts[row]!
  const expected = lengths.length + starts[lengths.length]! * 2
  if (bytes.length !== expected)
    throw new Error(`The neighbours of words take ${bytes.length} bytes instead of ${expected}.`)
  const rows = new Uint16Array(starts[lengths.length]!)
  new Uint8Array(rows.buffer).set(bytes.subarray(lengths.length))
  return (row) => {
    const others = rows.subarray(starts[row], starts[row + 1])
    const products = withEach([row])(others)
    return Array.from(others, (other, i) => ({
      row: other,
      similarity: products[i]! / (lengths[row]! * lengths[other]! || 1),
    }))
  }
}
