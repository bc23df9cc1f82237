import type { WordVectors } from '../../../models/static/word-vectors.ts'
import type { Language } from '../../../text/languages/language.ts'
import { createStemmer, type Stemmer } from '../../../text/languages/stem.ts'
import { characterNGrams } from '../../../text/words/n-grams.ts'
import { termsOfWord } from '../../../text/words/terms.ts'
import { hashOf } from '../tables/hash-of.ts'
import { createWordTable, type WordForms, type WordTable } from '../tables/word-table.ts'

/**
 * Words that are remembered, with their stems in about 30 MB, until there are so many: then all are met anew.
 * Passages of one company use fewer.
 */
const REMEMBERED = 120_000

/**
 * What every search needs to know of words, whatever the index: most of the time of a search would go into stemming
 * the same words again (measured: 11 of 38 ms with 20,000 chunks). One for all indexes of a process.
 */
export type Lexicon = {
  readonly stem: Stemmer
  /**
   * Words as an index of these languages has them, for one search; see `languagesInOrder`. A stop word in each of them
   * has no forms.
   */
  in(languages: readonly Language[]): WordTable
}

export function createLexicon(words: WordVectors): Lexicon {
  const stem = createStemmer(REMEMBERED)
  const byLanguages = new Map<string, WordTable>()
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
  }
}

function analyse(word: string, languages: readonly Language[], words: WordVectors, stem: Stemmer): WordForms {
  const forms = [...new Set(languages.flatMap((language) => termsOfWord(word, language, stem)))]
  return { forms, grams: gramsOf(forms[0] ?? ''), row: words.row(word) }
}

/** Hashes of the n-grams that spellings are compared by; none for a word too short to be misspelled. */
export function gramsOf(form: string): Uint32Array {
  return form.length > 2 ? Uint32Array.from(characterNGrams(form, 3, 4), (gram) => hashOf(gram)) : NO_GRAMS
}

const NO_GRAMS = new Uint32Array()
