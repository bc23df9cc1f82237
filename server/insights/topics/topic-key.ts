import type { Language } from '../../text/language.ts'
import type { Stemmer } from '../../text/stem.ts'
import { splitWords, wordsOnly } from '../../text/words.ts'

export const LONGEST_NAME = 60
/** What the search calls it when there is none. */
export const NO_TOPIC = 'unspecified'

/** A name as it is compared: two that differ in case, spacing or punctuation are one topic. */
export const topicKey = (name: string): string => wordsOnly(name) || name.trim().toLowerCase()

/** The same for what is found in texts: forms of a word are one, too. */
export const stemKey = (words: readonly string[], language: Language, stem: Stemmer): string =>
  words.map((word) => stem(word, language)).join(' ')

/** A name from a model or a text: one line of words, or null when little is left of it. */
export function tidyName(text: string): string | null {
  const name = text
    .replace(/[^\p{L}\p{M}\p{N}&/+\- ]/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim()
  if (name.length < 2 || name.length > LONGEST_NAME || splitWords(name).length > 6 || !/\p{L}/u.test(name))
    return null
  return name.charAt(0).toUpperCase() + name.slice(1)
}
