/**
 * A posting packs a slot and a weighted frequency into one small integer, for up to 2^23 slots and frequencies up to
 * 255.
 */
const FREQUENCY_BITS = 8
export const FREQUENCY_MASK = (1 << FREQUENCY_BITS) - 1

export type TermTable = {
  ids: Map<string, number>
  postings: number[][]
  /** The number of postings in all lists. */
  size: number
  /** The UTF-16 code units of all terms. */
  characters: number
}

export function createTermTable(): TermTable {
  return { ids: new Map(), postings: [], size: 0, characters: 0 }
}

/** Adds a posting; returns the term's number and whether the term is new. */
export function addPosting(
  table: TermTable,
  term: string,
  slot: number,
  frequency: number,
): { id: number; isNew: boolean } {
  let id = table.ids.get(term)
  const isNew = id === undefined
  if (id === undefined) {
    id = table.postings.length
    table.ids.set(term, id)
    table.postings.push([])
    table.characters += term.length
  }
  table.postings[id]!.push((slot << FREQUENCY_BITS) | Math.min(FREQUENCY_MASK, frequency))
  table.size++
  return { id, isNew }
}

export function slotOf(posting: number): number {
  return posting >>> FREQUENCY_BITS
}

/** Removes the postings of unwanted slots from a list. */
export function sweepPostings(table: TermTable, id: number, unwanted: (slot: number) => boolean): void {
  const list = table.postings[id]!
  const kept = list.filter((posting) => !unwanted(slotOf(posting)))
  if (kept.length === list.length) return
  table.size -= list.length - kept.length
  table.postings[id] = kept
}
