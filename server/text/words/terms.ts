import { densePairs, isDense } from '../languages/dense-script.ts'
import type { Language } from '../languages/language.ts'
import type { Stemmer } from '../languages/stem.ts'
import { isStopWord } from '../languages/stop-words.ts'

/** Longer runs are data, not words (hashes, base64). */
const LONGEST_TERM = 64

/**
 * Returns the terms under which a folded word is indexed: its stem or its character pairs, or nothing for a stop
 * word.
 */
export function termsOfWord(word: string, language: Language, stem: Stemmer): string[] {
  if (isStopWord(word, language) || word.length > LONGEST_TERM * 4) return []
  if (isDense(word)) return densePairs(word)
  return word.length > LONGEST_TERM ? [] : [stem(word, language)]
}
