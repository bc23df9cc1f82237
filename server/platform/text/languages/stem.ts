import snowball from 'snowball-stemmers'
import { foldAccents } from '../words/fold-accents.ts'
import type { Language } from './language.ts'

export type Stemmer = (word: string, language: Language) => string

const ALGORITHMS: Partial<Record<Language, string>> = {
  en: 'english',
  de: 'german',
  fr: 'french',
  es: 'spanish',
  it: 'italian',
  pt: 'portuguese',
  nl: 'dutch',
  sv: 'swedish',
  da: 'danish',
  no: 'norwegian',
  fi: 'finnish',
  cs: 'czech',
  ru: 'russian',
  tr: 'turkish',
  ar: 'arabic',
  hu: 'hungarian',
  ro: 'romanian',
}

/**
 * Creates a stemmer that caches up to `capacity` words of each language; discard it when the work is done. Stems have
 * no accents. The words of a language without an algorithm stay as they are.
 */
export function createStemmer(capacity = 50_000): Stemmer {
  const stemmers = new Map<Language, (word: string) => string>()
  return (word, language) => {
    let stem = stemmers.get(language)
    if (!stem) {
      const name = ALGORITHMS[language]
      const algorithm = name ? snowball.newStemmer(name) : { stem: (whole: string) => whole }
      stem = remembered(algorithm, capacity)
      stemmers.set(language, stem)
    }
    return stem(word)
  }
}

/** Returns an Arabic word with one form of the last letters that many people write in place of each other. */
const withOneEnding = (word: string): string => word.replace(/(?<!ت)ه$/u, 'ة').replace(/ى$/u, 'ي')

function remembered(algorithm: { stem(word: string): string }, capacity: number): (word: string) => string {
  const known = new Map<string, string>()
  return (word) => {
    const found = known.get(word)
    if (found !== undefined) return found
    // The time of the algorithms grows fast with the length, and some of them remove digits from numbers.
    const isWhole = word.length > 60 || /\p{N}/u.test(word)
    const stem = foldAccents(isWhole ? word : algorithm.stem(withOneEnding(word)))
    if (known.size >= capacity) known.clear()
    known.set(word, stem)
    return stem
  }
}
