import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createRowProducts, type RowProducts } from './row-products.ts'
import { createNeighbours, type Neighbour } from './word-neighbours.ts'

/** English word vectors, one int8 row per word. Rows are sorted by falling frequency of the word. */
export type WordVectors = {
  readonly dimensions: number
  readonly size: number
  /** The row of a folded word; -1 when it is unknown. The row number is also the frequency rank. */
  row(word: string): number
  /** The word of a row. */
  word(row: number): string
  /** The words closest in meaning to that of a row, closest first, without the word itself. */
  neighbours(row: number): readonly Neighbour[]
  readonly values: Int8Array
  /** The dot products of the rows of `values`. */
  readonly products: RowProducts
  /** Euclidean length of each row. */
  readonly lengths: Float32Array
}

const DIMENSIONS = 100

/** Returns the table beside this file (13 MB). The first access reads it, which takes some tenths of a second. */
export function loadWordVectors(folder = import.meta.dirname): WordVectors {
  let table: WordVectors | undefined
  const read = (): WordVectors => {
    table ??= readTable(folder)
    return table
  }
  return {
    dimensions: DIMENSIONS,
    get size() {
      return read().size
    },
    row: (word) => read().row(word),
    word: (row) => read().word(row),
    neighbours: (row) => read().neighbours(row),
    get values() {
      return read().values
    },
    get products() {
      return read().products
    },
    get lengths() {
      return read().lengths
    },
  }
}

function readTable(folder: string): WordVectors {
  const bytes = readFileSync(join(folder, 'word-vectors.bin'))
  const words = readFileSync(join(folder, 'word-vectors.txt'), 'utf8').trimEnd().split('\n')
  if (bytes.length !== words.length * DIMENSIONS) {
    throw new Error(
      `word-vectors.bin has ${bytes.length} bytes for ${words.length} words; run scripts/make-word-vectors.ts again`,
    )
  }
  const values = new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length)
  const rows = new Map(words.map((word, row) => [word, row]))
  const lengths = lengthsOfRows(values, words.length)
  const products = createRowProducts(values, DIMENSIONS)
  const neighbours = createNeighbours(readFileSync(join(folder, 'word-neighbours.bin')), products, lengths)
  return {
    dimensions: DIMENSIONS,
    size: words.length,
    row: (word) => rows.get(word) ?? -1,
    word: (row) => words[row] ?? '',
    neighbours,
    values,
    products,
    lengths,
  }
}

function lengthsOfRows(values: Int8Array, count: number): Float32Array {
  const lengths = new Float32Array(count)
  for (let row = 0; row < count; row++) {
    let sum = 0
    for (let i = row * DIMENSIONS; i < (row + 1) * DIMENSIONS; i++) sum += values[i]! * values[i]!
    lengths[row] = Math.sqrt(sum)
  }
  return lengths
}

/** Returns the cosine of two rows, -1 to 1. */
export function similarityOfRows(words: WordVectors, a: number, b: number): number {
  const { values, lengths, dimensions } = words
  let sum = 0
  for (let i = 0; i < dimensions; i++) sum += values[a * dimensions + i]! * values[b * dimensions + i]!
  return sum / (lengths[a]! * lengths[b]! || 1)
}
