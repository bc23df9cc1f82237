import { readFileSync } from 'node:fs'

type Random = () => number

/** Returns a generator of the same numbers from 0 to 1 every time. */
export function random(seed: number): Random {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

const words = readFileSync(new URL('../server/models/static/word-vectors.txt', import.meta.url), 'utf8')
  .trim()
  .split('\n')

// The list is sorted by frequency, so this picks words about as often as they occur in English.
const word = (next: Random): string => words[Math.floor(words.length ** next()) - 1] ?? 'the'
export const sentence = (next: Random, length: number): string =>
  `${Array.from({ length }, () => word(next)).join(' ')}.`

export function unitVector(next: Random, dimensions: number): Float32Array {
  const vector = Float32Array.from({ length: dimensions }, () => next() + next() + next() - 1.5)
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0))
  return vector.map((value) => value / length)
}
