import { MOST_LISTED } from '../../../models/static/row-products.ts'
import { rarity } from '../ranking/rank-terms.ts'
import { placesOf } from '../tables/sieved-places.ts'
import { languagesInOrder, type Tables } from '../tables/tables.ts'
import { formsAt, gramsAt, lettersAt, numberOfWord, type WordTable } from '../tables/word-table.ts'
import type { AnalysedQuestion } from './analyse-question.ts'
import { type AskedWords, askedWords, placesOfForms } from './asked-words.ts'

/** Shares of n-grams and cosines below these values occur by chance. */
const LEAST_SPELLED = 0.4
const LEAST_MEANT = 0.3
/** The likeness of a word that documents use for the subject of the question's word. */
const KIN_ALIKE = 0.6

const timesFound = ({ postings, ids }: Tables['terms'], forms: readonly string[]): number =>
  forms.reduce((sum, form) => sum + (postings[ids.get(form) ?? -1]?.length ?? 0), 0)

/** The numbers that a matcher has assigned to words. */
export type WordIds = Int32Array

/**
 * Compares the words of passages with those of one question. Each word is numbered once. Words are compared when a
 * similarity is requested, all new ones together, because comparing them one by one would take most of a search.
 */
export type WordMatcher = {
  /**
   * The weight of each word of the question: high for words that are rare in the index and significant in the
   * language.
   */
  weights: readonly number[]
  /** The rarity of each word of the question in the index. */
  rarities: readonly number[]
  idsOf(words: readonly string[]): WordIds
  /** Does the same for words that the table `known` has numbered. */
  idsOfNumbers(numbers: Int32Array): WordIds
  readonly known: WordTable
  /** Returns the number of an id's word in `known`. */
  numberOf(id: number): number
  /** False for a stop word, which is similar to nothing. */
  isCompared(id: number): boolean
  /**
   * Returns for each word of the question how similar (0 to 1), in spelling or meaning, the most similar of the words is.
   */
  best(words: readonly WordIds[]): Float32Array
  /** Does the same, and counts the words that documents use for the subject of the question's word as similar. */
  bestOrKin(words: readonly WordIds[]): Float32Array
  /** Returns how similar a word is to the word of the question that it is most similar to, kin included. */
  mostAlike(id: number): number
  /** Whether documents use other words for the subject of a word of the question. */
  readonly hasKin: boolean
}

/** Creates a matcher, which is used for one question only. */
export function createMatcher(tables: Tables, question: AnalysedQuestion): WordMatcher {
  const { terms, slots, lexicon } = tables
  const known = lexicon.in(languagesInOrder(tables))
  const asked = askedWords(tables, question)
  // Ids are assigned in the order in which words occur; `found` contains their numbers among the known words.
  const found: number[] = []
  let ids = new Int32Array(known.rows.length).fill(-1)
  let alike = new Float32Array(0)
  let alikeOrKin = alike
  let compared = 0

  const idOf = (number: number): number => {
    if (number >= ids.length) {
      const larger = new Int32Array(known.rows.length).fill(-1)
      larger.set(ids)
      ids = larger
    }
    if (ids[number]! < 0) ids[number] = found.push(number) - 1
    return ids[number]!
  }

  const grown = (before: Float32Array): Float32Array<ArrayBuffer> => {
    const larger = new Float32Array(found.length * asked.count)
    larger.set(before)
    return larger
  }
  const compareNew = (): void => {
    if (compared === found.length) return
    const added = found.slice(compared)
    const from = compared * asked.count
    alike = grown(alike)
    compareWords(tables, asked, known, added, alike.subarray(from))
    if (asked.hasKin) {
      alikeOrKin = grown(alikeOrKin)
      alikeOrKin.set(alike.subarray(from), from)
      addKin(asked, known, added, alikeOrKin.subarray(from))
    } else {
      alikeOrKin = alike
    }
    compared = found.length
  }

  const bestIn = (words: readonly WordIds[], values: Float32Array): Float32Array => {
    const { count } = asked
    const best = new Float32Array(count)
    for (const ids of words) {
      for (let i = 0; i < ids.length; i++) {
        const start = ids[i]! * count
        for (let place = 0; place < count; place++) {
          const value = values[start + place]!
          if (value > best[place]!) best[place] = value
        }
      }
    }
    return best
  }

  const rarities = question.terms.map(({ forms, kin, isAdded }) =>
    rarity(slots, timesFound(terms, isAdded ? kin.flatMap((one) => one.forms) : forms)),
  )
  return {
    weights: question.terms.map(({ information }, place) => information * rarities[place]!),
    rarities,
    idsOf(words) {
      const numbered = new Int32Array(words.length)
      for (let i = 0; i < words.length; i++) numbered[i] = idOf(numberOfWord(known, words[i]!))
      return numbered
    },
    idsOfNumbers(numbers) {
      const numbered = new Int32Array(numbers.length)
      for (let i = 0; i < numbers.length; i++) numbered[i] = idOf(numbers[i]!)
      return numbered
    },
    known,
    numberOf: (id) => found[id]!,
    isCompared: (id) => hasForms(known, found[id]!),
    best(words) {
      compareNew()
      return bestIn(words, alike)
    },
    bestOrKin(words) {
      compareNew()
      return bestIn(words, alikeOrKin)
    },
    mostAlike(id) {
      compareNew()
      let most = 0
      const end = (id + 1) * asked.count
      for (let at = id * asked.count; at < end; at++) most = Math.max(most, alikeOrKin[at]!)
      return most
    },
    hasKin: asked.hasKin,
  }
}

const hasForms = ({ bounds }: WordTable, number: number): boolean =>
  bounds[formsAt(number)]! < bounds[lettersAt(number + 1)]!

/** Writes for each known word how similar it is to each word of the question, unless a value was written before. */
function compareWords(
  { words }: Tables,
  asked: AskedWords,
  known: WordTable,
  numbers: readonly number[],
  alike: Float32Array,
): void {
  const byForm = placesOfForms(asked.forms, known)
  const multiply = asked.rows.some((row) => row >= 0) ? words.products.withEach(asked.rows) : null
  // Most words mean something else: they are passed over without a division.
  const least = Float64Array.from(asked.lengths, (length) => length * LEAST_MEANT * 0.999)
  for (let from = 0; from < numbers.length; from += MOST_LISTED) {
    const listed = numbers.slice(from, from + MOST_LISTED)
    readTogether(known, listed)
    const rows = listed.map((number) => Math.max(0, known.rows[number]!))
    const dots = multiply?.(rows)
    for (let i = 0; i < listed.length; i++) {
      const number = listed[i]!
      if (!hasForms(known, number)) continue
      const start = (from + i) * asked.count
      compareSpelling(asked, known, number, alike, start)
      if (dots && known.rows[number]! >= 0) {
        const length = words.lengths[rows[i]!]!
        for (let place = 0; place < least.length; place++) {
          const dot = dots[i * asked.count + place]!
          if (dot < least[place]! * length) continue
          const cosine = dot / (asked.lengths[place]! * length || 1)
          if (cosine >= LEAST_MEANT && cosine > alike[start + place]!) alike[start + place] = cosine
        }
      }
      const end = known.bounds[lettersAt(number + 1)]!
      for (let at = known.bounds[formsAt(number)]!; at < end; at++) {
        for (const place of placesOf(byForm, known.pool[at]!)) alike[start + place] = 1
      }
    }
  }
}

/** What readTogether has read, so that the reading is not left out. */
const read = new Uint32Array(1)

/**
 * Reads the data of words before they are needed: many reads at once take the memory little longer than one, and the
 * comparison of a word would wait for each of them.
 */
function readTogether({ bounds, pool, rows }: WordTable, numbers: readonly number[]): void {
  let all = 0
  for (const number of numbers) all ^= bounds[lettersAt(number)]! ^ rows[number]!
  for (const number of numbers) all ^= pool[bounds[gramsAt(number)]!]! ^ pool[bounds[formsAt(number)]!]!
  read[0] = all
}

/** Raises the similarity of each known word that documents use for the subject of a word of the question. */
function addKin(asked: AskedWords, known: WordTable, numbers: readonly number[], alike: Float32Array): void {
  const byKin = placesOfForms(asked.kin, known)
  for (const [i, number] of numbers.entries()) {
    const end = known.bounds[lettersAt(number + 1)]!
    for (let at = known.bounds[formsAt(number)]!; at < end; at++) {
      for (const place of placesOf(byKin, known.pool[at]!)) {
        const there = i * asked.count + place
        alike[there] = Math.max(alike[there]!, KIN_ALIKE)
      }
    }
  }
}

/**
 * Writes, from `start` on, the share of n-grams in common with each word of the question, if it is more than chance.
 */
function compareSpelling(
  asked: AskedWords,
  { pool, bounds }: WordTable,
  number: number,
  alike: Float32Array,
  start: number,
): void {
  const from = bounds[gramsAt(number)]!
  const to = bounds[formsAt(number)]!
  let any = false
  for (let at = from; at < to; at++) {
    const places = placesOf(asked.byGram, pool[at]!)
    if (places.length === 0) continue
    any = true
    for (const place of places) alike[start + place]!++
  }
  if (!any) return
  for (let place = 0; place < asked.count; place++) {
    const own = asked.gramCounts[place]!
    const share = own > 0 ? (2 * alike[start + place]!) / (own + to - from) : 0
    alike[start + place] = share >= LEAST_SPELLED ? share : 0
  }
}
