import type { WordVectors } from '../../models/static/word-vectors.ts'
import type { Language } from '../../text/language.ts'
import { characterNGrams } from '../../text/n-grams.ts'
import { createStemmer, type Stemmer } from '../../text/stem.ts'
import { termsOfWord } from '../../text/terms.ts'

/** Words that are remembered: with their stems about 45 MB, when so many are ever met. Passages of one company use fewer. */
const REMEMBERED = 120_000

/** What is compared of a word: its stems, hashes of the first one's n-grams, its row in the word vectors (-1: none). */
export type WordForms = { forms: readonly string[]; grams: Uint32Array; row: number }

/**
 * What every search needs to know of words, whatever the index: most of the time of a search would go into stemming
 * the same words again (measured: 11 of 38 ms with 20,000 chunks). One for all indexes of a process.
 */
export type Lexicon = {
  readonly stem: Stemmer
  /** Looks words up as an index of these languages has them; null: a stop word in each of them. */
  in(languages: ReadonlySet<Language>): (word: string) => WordForms | null
}

export function createLexicon(words: WordVectors): Lexicon {
  const stem = createStemmer(REMEMBERED)
  const byLanguages = new Map<string, (word: string) => WordForms | null>()
  return {
    stem,
    in(languages) {
      const key = [...languages].join()
      const before = byLanguages.get(key)
      if (before) return before
      const own = new Set(languages)
      const look = remembered((word) => analyse(word, own, words, stem))
      byLanguages.set(key, look)
      return look
    },
  }
}

/** Keeps the words of now and, until those are many, the ones before them. */
function remembered(make: (word: string) => WordForms | null): (word: string) => WordForms | null {
  let before = new Map<string, WordForms | null>()
  let now = new Map<string, WordForms | null>()
  return (word) => {
    const known = now.get(word)
    if (known !== undefined) return known
    const found = before.get(word)
    const forms = found === undefined ? make(word) : found
    if (now.size >= REMEMBERED / 2) {
      before = now
      now = new Map()
    }
    now.set(word, forms)
    return forms
  }
}

function analyse(
  word: string,
  languages: ReadonlySet<Language>,
  words: WordVectors,
  stem: Stemmer,
): WordForms | null {
  const forms = [...new Set([...languages].flatMap((language) => termsOfWord(word, language, stem)))]
  return forms.length === 0 ? null : { forms, grams: gramsOf(forms[0]!), row: words.row(word) }
}

/** Hashes of the n-grams that spellings are compared by; none for a word too short to be misspelled. */
export function gramsOf(form: string): Uint32Array {
  return form.length > 2 ? Uint32Array.from(characterNGrams(form, 3, 4), hashOf) : NO_GRAMS
}

const NO_GRAMS = new Uint32Array()

/** FNV-1a. */
function hashOf(gram: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < gram.length; i++) hash = Math.imul(hash ^ gram.charCodeAt(i), 0x01000193)
  return hash >>> 0
}
