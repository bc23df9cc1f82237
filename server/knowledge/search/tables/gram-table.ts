import { characterNGrams } from '../../../text/words/n-grams.ts'
import { hashOf } from './hash-of.ts'

/**
 * Finds the terms that contain a character n-gram. N-grams are stored as hashes in one chained table, because
 * hundreds of thousands of small lists would take several times the memory.
 */
export type GramTable = {
  heads: Int32Array
  hashes: Uint32Array
  terms: Int32Array
  next: Int32Array
  count: number
  termCount: number
}

const SMALLEST = 1 << 10

export function createGramTable(): GramTable {
  return {
    heads: new Int32Array(SMALLEST).fill(-1),
    hashes: new Uint32Array(SMALLEST),
    terms: new Int32Array(SMALLEST),
    next: new Int32Array(SMALLEST),
    count: 0,
    termCount: 0,
  }
}

/** Adds a new term under each of its n-grams. */
export function addTermGrams(table: GramTable, term: string, id: number): void {
  table.termCount++
  for (const gram of characterNGrams(term)) {
    if (table.count === table.terms.length) grow(table)
    const hash = hashOf(gram)
    table.hashes[table.count] = hash
    table.terms[table.count] = id
    link(table, table.count)
    table.count++
  }
}

/** Returns the numbers of the terms that contain an n-gram. */
export function termsWithGram(table: GramTable, gram: string): number[] {
  const hash = hashOf(gram)
  const found: number[] = []
  for (let entry = table.heads[hash & (table.heads.length - 1)]!; entry >= 0; entry = table.next[entry]!) {
    if (table.hashes[entry] === hash) found.push(table.terms[entry]!)
  }
  return found
}

function link(table: GramTable, entry: number): void {
  const bucket = table.hashes[entry]! & (table.heads.length - 1)
  table.next[entry] = table.heads[bucket]!
  table.heads[bucket] = entry
}

function grow(table: GramTable): void {
  const size = table.terms.length * 2
  const hashes = new Uint32Array(size)
  hashes.set(table.hashes)
  const terms = new Int32Array(size)
  terms.set(table.terms)
  Object.assign(table, { hashes, terms, next: new Int32Array(size), heads: new Int32Array(size).fill(-1) })
  for (let entry = 0; entry < table.count; entry++) link(table, entry)
}
