import { randomInt } from 'node:crypto'
import { hashOf } from './hash-of.ts'

/**
 * The data by which a word is compared: its stems, hashes of the first stem's n-grams, and its row in the word
 * vectors (-1 for none).
 */
export type WordForms = { forms: readonly string[]; grams: Uint32Array; row: number }

/**
 * Stores words by number, with the data by which they are compared in flat arrays. A search handles thousands of
 * words, and with objects and lists in a map it would mostly wait for memory.
 */
export type WordTable = {
  readonly analyse: (word: string) => WordForms
  count: number
  rows: Int32Array
  /** The letters of each word, the hashes of its n-grams and the numbers of its stems, one after the other. */
  pool: Uint32Array
  /**
   * The positions in `pool` at which the data of a word begins, by `lettersAt`, `gramsAt` and `formsAt`; each part
   * ends where the next begins.
   */
  bounds: Uint32Array
  hashes: Uint32Array
  /**
   * A hash table with open addressing: the number of each word is at the position given by the last bits of its hash,
   * or after it. At least half of the elements are -1.
   */
  places: Int32Array
  /** Stems have numbers of their own. */
  readonly formNumbers: Map<string, number>
}

/** The numbers of a chunk's words in a word table, field by field. The first numbers are the ends of the fields. */
export type SaidWords = { readonly known: WordTable; readonly numbers: Int32Array }

export const lettersAt = (number: number): number => number * 3
export const gramsAt = (number: number): number => number * 3 + 1
export const formsAt = (number: number): number => number * 3 + 2

const SMALLEST = 1 << 10
/** The seed is random, so nobody can choose words that all collide. */
const SEED = randomInt(2 ** 32)

/** `analyse` is called once for each word. */
export function createWordTable(analyse: (word: string) => WordForms): WordTable {
  return {
    analyse,
    count: 0,
    rows: new Int32Array(SMALLEST),
    pool: new Uint32Array(SMALLEST),
    bounds: new Uint32Array(lettersAt(SMALLEST) + 1),
    hashes: new Uint32Array(SMALLEST),
    places: new Int32Array(SMALLEST * 2).fill(-1),
    formNumbers: new Map(),
  }
}

/** Returns the number of a word, which is added if it is new. */
export function numberOfWord(table: WordTable, word: string): number {
  const hash = hashOf(word, SEED)
  const number = table.places[placeOf(table, word, hash)]!
  return number < 0 ? addWord(table, word, hash) : number
}

/** Returns the position of a word, or the free one where it belongs. */
function placeOf(table: WordTable, word: string, hash: number): number {
  const { places, hashes } = table
  const last = places.length - 1
  let place = hash & last
  for (;;) {
    const number = places[place]!
    if (number < 0 || (hashes[number] === hash && isSpelled(table, number, word))) return place
    place = (place + 1) & last
  }
}

function isSpelled({ pool, bounds }: WordTable, number: number, word: string): boolean {
  const start = bounds[lettersAt(number)]!
  if (bounds[gramsAt(number)]! - start !== word.length) return false
  for (let i = 0; i < word.length; i++) if (pool[start + i] !== word.charCodeAt(i)) return false
  return true
}

function addWord(table: WordTable, word: string, hash: number): number {
  const { forms, grams, row } = table.analyse(word)
  const number = table.count++
  if (table.count > table.rows.length) growWords(table)
  const letters = table.bounds[lettersAt(number)]!
  const gramsFrom = letters + word.length
  const formsFrom = gramsFrom + grams.length
  const end = formsFrom + forms.length
  while (end > table.pool.length) table.pool = copied(table.pool, new Uint32Array(table.pool.length * 2))
  const { pool, bounds } = table
  for (let i = 0; i < word.length; i++) pool[letters + i] = word.charCodeAt(i)
  pool.set(grams, gramsFrom)
  for (const [i, form] of forms.entries()) pool[formsFrom + i] = numberOfForm(table, form)
  bounds[gramsAt(number)] = gramsFrom
  bounds[formsAt(number)] = formsFrom
  bounds[lettersAt(number + 1)] = end
  table.rows[number] = row
  table.hashes[number] = hash
  table.places[placeOf(table, word, hash)] = number
  return number
}

function numberOfForm({ formNumbers }: WordTable, form: string): number {
  const known = formNumbers.get(form)
  if (known !== undefined) return known
  formNumbers.set(form, formNumbers.size)
  return formNumbers.size - 1
}

function growWords(table: WordTable): void {
  const size = table.rows.length * 2
  table.rows = copied(table.rows, new Int32Array(size))
  table.bounds = copied(table.bounds, new Uint32Array(lettersAt(size) + 1))
  table.hashes = copied(table.hashes, new Uint32Array(size))
  table.places = new Int32Array(size * 2).fill(-1)
  const last = table.places.length - 1
  for (let number = 0; number < table.count - 1; number++) {
    let place = table.hashes[number]! & last
    while (table.places[place]! >= 0) place = (place + 1) & last
    table.places[place] = number
  }
}

function copied<T extends Int32Array | Uint32Array>(array: T, larger: T): T {
  larger.set(array)
  return larger
}
