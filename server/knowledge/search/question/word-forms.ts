import type { WordVectors } from '../../../models/static/word-vectors.ts'
import type { Language } from '../../../text/languages/language.ts'
import { createStemmer, type Stemmer } from '../../../text/languages/stem.ts'
import { characterNGrams } from '../../../text/words/n-grams.ts'
import { termsOfWord } from '../../../text/words/terms.ts'
import { hashOf } from '../tables/hash-of.ts'
import { createWordTable, type WordForms, type WordTable } from '../tables/word-table.ts'

/**
 * The number of cached words, whose stems take about 30 MB. When the cache is full, it starts again. The passages of
 * one company use fewer words.
 */
const REMEMBERED = 120_000

/**
 * Caches what every search needs to know about words, whatever the index. Otherwise most of the time of a search
 * would be spent stemming the same words again (11 of 38 ms with 20,000 chunks). One cache serves all indexes of a
 * process.
 */
export type Lexicon = {
  readonly stem: Stemmer
  /**
   * Returns the forms of words in an index of these languages, for one search; see `languagesInOrder`. A stop word in
   * each of them has no forms.
   */
  in(languages: readonly Language[]): WordTable
  /** Returns the English stem of a row of the word vectors; an empty string for a stop word. */
  stemOfRow(row: number): string
}

export function createLexicon(words: WordVectors): Lexicon {
  const stem = createStemmer(REMEMBERED)
  const byLanguages = new Map<string, WordTable>()
  const stemsOfRows: string[] = []
  return {
    stem,
    in(languages) {
      const key = languages.join()
      const before = byLanguages.get(key)
      if (before && before.count < REMEMBERED) return before
      const own = [...languages]
      const table = createWordTable((word) => analyse(word, own, words, stem))
      byLanguages.set(key, table)
      return table
    },
    stemOfRow(row) {
      stemsOfRows[row] ??= termsOfWord(words.word(row), 'en', stem)[0] ?? ''
      return stemsOfRows[row]
    },
  }
}

function analyse(word: string, languages: readonly Language[], words: WordVectors, stem: Stemmer): WordForms {
  const forms = [...new Set(languages.flatMap((language) => termsOfWord(word, language, stem)))]
  return { forms, grams: gramsOf(forms[0] ?? ''), row: words.row(word) }
}

/** The hashes of the n-grams by which spellings are compared; none for a word that is too short to be misspelled. */
export function gramsOf(form: string): Uint32Array {
  return form.length > 2 ? Uint32Array.from(characterNGrams(form, 3, 4), (gram) => hashOf(gram)) : NO_GRAMS
}

const NO_GRAMS = new Uint32Array()
