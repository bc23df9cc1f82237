import { splitWords, wordsOnly } from '../../../platform/text/words/words.ts'

export const MAX_NAME_LENGTH = 60
/** The name that the search uses for conversations without a topic. */
export const NO_TOPIC = 'unspecified'

/**
 * Returns the key by which names are compared: names that differ only in case, spacing or punctuation are the same
 * topic.
 */
export const topicKey = (name: string): string => wordsOnly(name) || name.trim().toLowerCase()

/** Returns a name from a model or a text as one line of words; null when little of it is left. */
export function tidyName(text: string): string | null {
  const name = text
    .replace(/[^\p{L}\p{M}\p{N}&/+\- ]/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim()
  if (name.length < 2 || name.length > MAX_NAME_LENGTH || splitWords(name).length > 6 || !/\p{L}/u.test(name))
    return null
  return name.charAt(0).toUpperCase() + name.slice(1)
}
