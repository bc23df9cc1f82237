import snowball from 'snowball-stemmers'
import type { Language } from './language.ts'

export type Stemmer = (word: string, language: Language) => string

/** A stemmer that remembers up to `capacity` words of each language; drop it when the work is done. */
export function createStemmer(capacity = 50_000): Stemmer {
  const english = remembered(snowball.newStemmer('english'), capacity)
  const german = remembered(snowball.newStemmer('german'), capacity)
  return (word, language) => {
    if (language === 'en') return english(word)
    if (language === 'de') return german(word)
    return word
  }
}

function remembered(algorithm: { stem(word: string): string }, capacity: number): (word: string) => string {
  const known = new Map<string, string>()
  return (word) => {
    const found = known.get(word)
    if (found !== undefined) return found
    // The algorithms take time that grows fast with the length; nobody searches for a 60-character stem.
    const stem = word.length > 60 ? word : algorithm.stem(word)
    if (known.size >= capacity) known.clear()
    known.set(word, stem)
    return stem
  }
}
