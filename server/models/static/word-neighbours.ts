import type { RowProducts } from './row-products.ts'

export type Neighbour = { row: number; similarity: number }

const LEAST_SIMILARITY = 0.4
const MOST_NEIGHBOURS = 60
/** The number of words whose neighbours are cached; a list takes about 3 KB. */
const REMEMBERED = 2_000

/**
 * Finds the rows closest to a row by cosine. This scans the table, which takes half a millisecond, and caches the most
 * recently used words.
 */
export function createNeighbours(
  { withAll }: RowProducts,
  lengths: Float32Array,
): (row: number) => readonly Neighbour[] {
  const known = new Map<number, readonly Neighbour[]>()
  return (row) => {
    const found = known.get(row) ?? closest(withAll(row), lengths, row)
    known.delete(row)
    known.set(row, found)
    if (known.size > REMEMBERED) known.delete(known.keys().next().value!)
    return found
  }
}

function closest(dots: Int32Array, lengths: Float32Array, row: number): Neighbour[] {
  const found: Neighbour[] = []
  // Most rows are far from this one: they are passed over without a division.
  const least = LEAST_SIMILARITY * lengths[row]! * 0.999
  for (let other = 0; other < lengths.length; other++) {
    if (dots[other]! < least * lengths[other]!) continue
    const similarity = dots[other]! / (lengths[row]! * lengths[other]! || 1)
    if (similarity >= LEAST_SIMILARITY && other !== row) found.push({ row: other, similarity })
  }
  return found.sort((a, b) => b.similarity - a.similarity || a.row - b.row).slice(0, MOST_NEIGHBOURS)
}
