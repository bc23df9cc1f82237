import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** For each word (by its index), the words with a similar meaning, with a weight for each. */
type Related = Map<number, number>[]

/** The senses of a word are listed by falling frequency; the later ones mislead more than they help. */
const SENSES = 2
const SENSE_WEIGHTS = [1, 0.5]
const BROADER = 0.4
const BROADER_WORDS = 2
const ROUNDS = 8
/** The weight of a word's own vector. */
const OWN = 0.8

type Sense = { words: string[]; broader: string[] }

/**
 * Reads synonyms, and the words of the next broader sense, from WordNet's files (`data.noun`, `index.noun` and so
 * on).
 */
export function relatedWords(folder: string, words: readonly string[]): Related {
  const places = new Map(words.map((word, place) => [word, place]))
  const related: Related = words.map(() => new Map())
  const relate = (a: string, b: string, weight: number): void => {
    const [first, second] = [places.get(a), places.get(b)]
    if (first === undefined || second === undefined || first === second) return
    related[first]!.set(second, Math.max(weight, related[first]!.get(second) ?? 0))
    related[second]!.set(first, Math.max(weight, related[second]!.get(first) ?? 0))
  }
  for (const kind of ['noun', 'verb', 'adj', 'adv']) {
    const senses = readSenses(linesOf(join(folder, `data.${kind}`)))
    for (const line of linesOf(join(folder, `index.${kind}`))) {
      const fields = line.trim().split(' ')
      const word = fields[0]!
      // The fields are: word, kind, senses, pointers p, p pointers, senses, tagged senses, offsets.
      for (const [rank, offset] of fields
        .slice(6 + Number(fields[3]), 6 + Number(fields[3]) + SENSES)
        .entries()) {
        const sense = senses.get(offset)
        const weight = SENSE_WEIGHTS[rank]!
        for (const other of sense?.words ?? []) relate(word, other, weight)
        for (const above of sense?.broader ?? []) {
          for (const other of senses.get(above)?.words.slice(0, BROADER_WORDS) ?? []) {
            relate(word, other, weight * BROADER)
          }
        }
      }
    }
  }
  return related
}

/** Lines of the licence begin with spaces. */
const linesOf = (path: string): string[] =>
  readFileSync(path, 'latin1')
    .split('\n')
    .filter((line) => /^\S/.test(line))

/**
 * The synsets by offset. The fields of a line are: offset, file, kind, words n (hex), n times word and id, pointers
 * p, p times four.
 */
function readSenses(lines: readonly string[]): Map<string, Sense> {
  return new Map(
    lines.map((line) => {
      const fields = line.split(' ')
      const count = Number.parseInt(fields[3]!, 16)
      const at = (place: number): string => fields[4 + 2 * place]!.replace(/\(.*\)$/, '').toLowerCase()
      const words = Array.from({ length: count }, (_, place) => at(place))
      const pointers = 4 + 2 * count
      const broader: string[] = []
      for (let i = 0; i < Number(fields[pointers]); i++) {
        const [type, offset] = fields.slice(pointers + 1 + 4 * i)
        if (type === '@' || type === '&') broader.push(offset!)
      }
      return [fields[0]!, { words, broader }]
    }),
  )
}

/** Returns the vectors, each moved towards those of related words and scaled to length 1. */
export function drawTogether(rows: readonly Float64Array[], related: Related): Float64Array[] {
  const own = rows.map(unit)
  let drawn = own
  for (let round = 0; round < ROUNDS; round++) {
    drawn = drawn.map((row, place) => {
      const others = related[place]!
      if (others.size === 0) return row
      const mean = new Float64Array(row.length)
      let total = 0
      for (const [other, weight] of others) {
        total += weight
        for (let i = 0; i < mean.length; i++) mean[i]! += weight * drawn[other]![i]!
      }
      return unit(mean.map((value, i) => OWN * own[place]![i]! + ((1 - OWN) * value) / total))
    })
  }
  return drawn
}

function unit(row: Float64Array): Float64Array {
  const length = Math.hypot(...row) || 1
  return row.map((value) => value / length)
}
