import { characterNGrams } from '../../../text/words/n-grams.ts'
import { hashOf } from './hash-of.ts'

/**
 * Finds the terms that contain a character n-gram. N-grams are stored as hashes in one chained table, because
 * hundreds of thousands of small lists would take several times the memory.
 */
export type GramTable = {
  /** The first entry of each bucket, or -1. The last bits of a hash are the number of its bucket. */
  heads: Int32Array
  /** The hash, the term and the next entry of each entry, side by side, so that they are read from memory together. */
  entries: Int32Array
  count: number
  termCount: number
}

const SMALLEST = 1 << 10
const SIZE = 3
const [HASH, TERM, NEXT] = [0, 1, 2] as const

export function createGramTable(): GramTable {
  return {
    heads: new Int32Array(SMALLEST).fill(-1),
    entries: new Int32Array(SMALLEST * SIZE),
    count: 0,
    termCount: 0,
  }
}

/** Adds a new term under each of its n-grams. */
export function addTermGrams(table: GramTable, term: string, id: number): void {
  table.termCount++
  for (const gram of characterNGrams(term)) {
    if (table.count === table.heads.length) grow(table)
    const entry = table.count++
    table.entries[entry * SIZE + HASH] = hashOf(gram)
    table.entries[entry * SIZE + TERM] = id
    link(table, entry)
  }
}

/** Returns the numbers of the terms that contain an n-gram. */
export function termsWithGram({ heads, entries }: GramTable, gram: string): number[] {
  const hash = hashOf(gram) | 0
  const found: number[] = []
  for (let entry = heads[hash & (heads.length - 1)]!; entry >= 0; entry = entries[entry * SIZE + NEXT]!) {
    if (entries[entry * SIZE + HASH] === hash) found.push(entries[entry * SIZE + TERM]!)
  }
  return found
}

function link({ heads, entries }: GramTable, entry: number): void {
  const bucket = entries[entry * SIZE + HASH]! & (heads.length - 1)
  entries[entry * SIZE + NEXT] = heads[bucket]!
  heads[bucket] = entry
}

/** Doubles the table and puts the entries of one bucket side by side, because a search reads all of them. */
function grow(table: GramTable): void {
  const size = table.heads.length * 2
  const bucketOf = (entry: number): number => table.entries[entry * SIZE + HASH]! & (size - 1)
  const ends = new Int32Array(size)
  for (let entry = 0; entry < table.count; entry++) ends[bucketOf(entry)]!++
  for (let bucket = 1; bucket < size; bucket++) ends[bucket]! += ends[bucket - 1]!
  const entries = new Int32Array(size * SIZE)
  for (let entry = 0; entry < table.count; entry++) {
    const start = --ends[bucketOf(entry)]! * SIZE
    entries[start + HASH] = table.entries[entry * SIZE + HASH]!
    entries[start + TERM] = table.entries[entry * SIZE + TERM]!
  }
  Object.assign(table, { entries, heads: new Int32Array(size).fill(-1) })
  for (let entry = table.count - 1; entry >= 0; entry--) link(table, entry)
}
