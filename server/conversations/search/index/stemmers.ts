import snowball from 'snowball-stemmers'

export type Stemmers = (word: string, language: string) => string

// The time of the algorithms grows quickly with the length, and nobody searches for a 60-character stem.
const MAX_LENGTH = 60

/** Creates stemmers for all languages on first use. Each caches up to `capacity` words. */
export function createStemmers(capacity = 20_000): Stemmers {
  const known = new Map<string, { algorithm: { stem(word: string): string }; stems: Map<string, string> }>()
  return (word, language) => {
    // Numbers have no inflected forms, but some algorithms turn 299 into 29.
    if (word.length > MAX_LENGTH || /\p{N}/u.test(word)) return word
    let entry = known.get(language)
    if (!entry) {
      entry = { algorithm: snowball.newStemmer(language), stems: new Map() }
      known.set(language, entry)
    }
    const { algorithm, stems } = entry
    const found = stems.get(word)
    if (found !== undefined) return found
    const stem = algorithm.stem(word)
    if (stems.size >= capacity) stems.clear()
    stems.set(word, stem)
    return stem
  }
}
