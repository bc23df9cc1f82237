import type { AnalysedQuestion } from './analyse-question.ts'
import { cosinesOfRows } from './cosines-of-rows.ts'
import { rarity } from './rank-terms.ts'
import type { Tables } from './tables.ts'
import { gramsOf, type WordForms } from './word-forms.ts'

/** Shares of n-grams and cosines below these come about by chance. */
const LEAST_SPELLED = 0.4
const LEAST_MEANT = 0.3

const NOWHERE: readonly number[] = []

/** Numbers that a matcher has given to words. */
export type WordIds = Int32Array

/**
 * Compares the words of passages with those of one question. Words are numbered first, each once; they are compared
 * when a likeness is asked for, all that are new together: one by one they would take most of a search.
 */
export type WordMatcher = {
  /** How much each word of the question counts: rare in the index, telling in the language. */
  weights: readonly number[]
  idsOf(words: readonly string[]): WordIds
  /** False for a stop word: it is like nothing. */
  isCompared(id: number): boolean
  /** How alike (0..1) the word of an id is, in spelling or meaning, to the word of the question at `place`. */
  likeness(id: number, place: number): number
}

/** Make a new one for each question. */
export function createMatcher(tables: Tables, question: AnalysedQuestion): WordMatcher {
  const { terms, slots, lexicon, languages } = tables
  const asked = askedWords(tables, question)
  const formsOf = lexicon.in(languages)
  const ids = new Map<string, number>()
  const found: (WordForms | null)[] = []
  let alike = new Float32Array(0)
  let compared = 0

  const compareNew = (): void => {
    const size = asked.count
    const grown = new Float32Array(found.length * size)
    grown.set(alike)
    alike = grown
    const rows = new Int32Array(found.length - compared)
    for (let i = 0; i < rows.length; i++) rows[i] = found[compared + i]?.row ?? -1
    const cosines = cosinesOfRows(tables.words, asked.rows, rows)
    for (let i = 0; i < rows.length; i++) {
      const forms = found[compared + i]
      if (!forms) continue
      const start = (compared + i) * size
      compareSpelling(asked, forms, alike, start)
      for (let place = 0; place < size; place++) {
        const meant = cosines[place]?.[i] ?? 0
        if (meant >= LEAST_MEANT && meant > alike[start + place]!) alike[start + place] = meant
      }
      for (const form of forms.forms) {
        if (asked.sieve[sizeOf(form)] === 0) continue
        for (const place of asked.byForm.get(form) ?? NOWHERE) alike[start + place] = 1
      }
    }
    compared = found.length
  }

  return {
    weights: question.terms.map(({ forms, information }) => {
      const held = forms.reduce(
        (sum, form) => sum + (terms.postings[terms.ids.get(form) ?? -1]?.length ?? 0),
        0,
      )
      return information * rarity(slots, held)
    }),
    idsOf(words) {
      const numbers = new Int32Array(words.length)
      for (let i = 0; i < words.length; i++) {
        const word = words[i]!
        let id = ids.get(word)
        if (id === undefined) {
          id = found.length
          ids.set(word, id)
          found.push(formsOf(word))
        }
        numbers[i] = id
      }
      return numbers
    },
    isCompared: (id) => found[id] !== null,
    likeness(id, place) {
      if (compared < found.length) compareNew()
      return alike[id * asked.count + place]!
    },
  }
}

/** For each word of the question the likeness of the closest of the words. */
export function bestOf(words: readonly WordIds[], { weights, likeness }: WordMatcher): Float32Array {
  const best = new Float32Array(weights.length)
  for (const ids of words) {
    for (const id of ids) {
      for (let place = 0; place < best.length; place++) {
        const alike = likeness(id, place)
        if (alike > best[place]!) best[place] = alike
      }
    }
  }
  return best
}

type Asked = {
  count: number
  /** Of each word in the word vectors, -1 for none. */
  rows: readonly number[]
  /** How many n-grams each has; 0: its spelling is not compared. */
  grams: readonly number[]
  /** Places of the words that have a form, or an n-gram by its hash. */
  byForm: ReadonlyMap<string, number[]>
  byGram: ReadonlyMap<number, number[]>
  /** Not 0 where an n-gram, by the last bits of its hash, or the size of a form may be: most are told apart by it. */
  sieve: Uint8Array
}

const SIEVE = 8_192
const LAST_BITS = 4_095
/** In the second half of the sieve. */
const sizeOf = (form: string): number =>
  4_096 + ((form.charCodeAt(0) ^ (form.charCodeAt(form.length - 1) << 5) ^ (form.length << 2)) & LAST_BITS)

function askedWords({ words }: Tables, { terms, vector }: AnalysedQuestion): Asked {
  const byForm = new Map<string, number[]>()
  const byGram = new Map<number, number[]>()
  const sieve = new Uint8Array(SIEVE)
  const grams = terms.map(({ forms }, place) => {
    for (const form of forms) {
      addTo(byForm, form, place)
      sieve[sizeOf(form)] = 1
    }
    const own = gramsOf(forms[0]!)
    for (const gram of own) {
      addTo(byGram, gram, place)
      sieve[gram & LAST_BITS] = 1
    }
    return own.length
  })
  const rows = terms.map(({ word, isName }) => (vector && !isName ? words.row(word) : -1))
  return { count: terms.length, rows, grams, byForm, byGram, sieve }
}

function addTo<K>(places: Map<K, number[]>, key: K, place: number): void {
  const there = places.get(key)
  if (there) there.push(place)
  else places.set(key, [place])
}

/** Writes, from `start` on, the share of n-grams in common with each word of the question, where it is more than chance. */
function compareSpelling(asked: Asked, { grams }: WordForms, alike: Float32Array, start: number): void {
  let any = false
  for (let i = 0; i < grams.length; i++) {
    const gram = grams[i]!
    const places = asked.sieve[gram & LAST_BITS] === 0 ? undefined : asked.byGram.get(gram)
    if (!places) continue
    any = true
    for (const place of places) alike[start + place]!++
  }
  if (!any) return
  for (let place = 0; place < asked.count; place++) {
    const own = asked.grams[place]!
    const share = own > 0 ? (2 * alike[start + place]!) / (own + grams.length) : 0
    alike[start + place] = share >= LEAST_SPELLED ? share : 0
  }
}
