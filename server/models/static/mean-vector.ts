import type { WordVectors } from './word-vectors.ts'

/** Words above this relative frequency have decreasing weight (smooth inverse frequency). */
const SMOOTHING = 1e-3

/** Returns the weight of a word, 0 to 1, for its frequency rank; 1 for a word that is not in the table. */
export function informationOf(words: WordVectors, row: number): number {
  if (row < 0) return 1
  // By Zipf's law, the relative frequency of the word at a rank is 1 / (rank * harmonic number of the vocabulary's
  // size).
  const share = 1 / ((row + 1) * (Math.log(words.size) + 0.58))
  return SMOOTHING / (SMOOTHING + share)
}

/** Adds the weighted unit vectors of the words to `sum`. Returns the weight added; 0 means that no word was known. */
export function addWords(words: WordVectors, text: readonly string[], sum: Float32Array): number {
  let total = 0
  for (const word of text) {
    const row = words.row(word)
    if (row < 0 || words.lengths[row] === 0) continue
    const information = informationOf(words, row)
    const factor = information / words.lengths[row]!
    const start = row * words.dimensions
    for (let i = 0; i < words.dimensions; i++) sum[i]! += words.values[start + i]! * factor
    total += information
  }
  return total
}

/** Returns the unit-length mean of the words' vectors; null when no word is known. */
export function meanVector(words: WordVectors, text: readonly string[]): Float32Array | null {
  const sum = new Float32Array(words.dimensions)
  return addWords(words, text, sum) === 0 ? null : unitLength(sum)
}

/** Returns a copy of length 1; null for a vector of zeros or one that is not finite. */
export function unitLength(vector: Float32Array): Float32Array | null {
  let square = 0
  for (const value of vector) square += value * value
  const length = Math.sqrt(square)
  return length > 0 && Number.isFinite(length) ? vector.map((value) => value / length) : null
}
