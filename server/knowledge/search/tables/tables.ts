import type { WordVectors } from '../../../models/static/word-vectors.ts'
import type { Language } from '../../../text/languages/language.ts'
import type { ExactQuestions } from '../question/exact-questions.ts'
import { createLexicon, type Lexicon } from '../question/word-forms.ts'
import { createGramTable, type GramTable } from './gram-table.ts'
import { createSlotTable, type SlotTable } from './slot-table.ts'
import { createTermTable, type TermTable } from './term-table.ts'
import { createVectorTable, type VectorTable } from './vector-table.ts'
import type { SaidWords } from './word-table.ts'

/** All tables of one agent's index. */
export type Tables = {
  readonly words: WordVectors
  readonly slots: SlotTable
  readonly terms: TermTable
  readonly grams: GramTable
  readonly passages: VectorTable
  /** The vectors of an embedding provider; created when the first chunk has one. */
  provided: VectorTable | null
  readonly exact: ExactQuestions
  readonly lexicon: Lexicon
  /** The languages in which chunks of this index were stemmed. */
  readonly languages: Set<Language>
  /** The language of each slot's chunk. */
  readonly languageOf: Language[]
  /** The words of each slot's chunk; see `saidIn`. */
  readonly said: (SaidWords | null)[]
  /** The number of chunks that were ever written in each language. */
  readonly chunksOf: Map<Language, number>
}

export function createTables(words: WordVectors, lexicon = createLexicon(words)): Tables {
  return {
    words,
    slots: createSlotTable(),
    terms: createTermTable(),
    grams: createGramTable(),
    passages: createVectorTable(words.dimensions),
    provided: null,
    exact: new Map(),
    lexicon,
    languages: new Set(),
    languageOf: [],
    said: [],
    chunksOf: new Map(),
  }
}

/** Returns the language of most chunks; null when none is known. */
export function mostChunks(chunksOf: ReadonlyMap<Language, number>): Language | null {
  let most: Language | null = null
  for (const [language, count] of chunksOf) {
    if (language !== 'other' && count > (most === null ? 0 : chunksOf.get(most)!)) most = language
  }
  return most
}

/**
 * Returns the languages of an index, with that of most chunks first and `other` last. The spelling of a word is
 * compared by its form in the first language that has one. The other languages are in a fixed order, so that indexes
 * of the same languages share their words.
 */
export function languagesInOrder({
  languages,
  chunksOf,
}: Pick<Tables, 'languages' | 'chunksOf'>): Language[] {
  const first = mostChunks(chunksOf)
  const placeOf = (language: Language): number => (language === first ? 0 : language === 'other' ? 2 : 1)
  return [...languages].toSorted((a, b) => placeOf(a) - placeOf(b) || (a < b ? -1 : 1))
}
