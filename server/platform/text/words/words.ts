const ASCII_WORD = /[a-z0-9]+/g
const WORD = /[\p{L}\p{M}\p{N}]+/gu
// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is ASCII
const ASCII = /^[\x00-\x7f]*$/
const INVISIBLE = /[\u00ad\u200b-\u200d\u2060\ufeff]/g

/**
 * Normalises a text for comparison: folds compatibility forms, lower-cases, and removes soft hyphens and zero-width
 * characters.
 */
export function foldText(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase()
  return text.normalize('NFKC').replace(INVISIBLE, '').toLowerCase()
}

/**
 * Returns the folded runs of letters and digits in a text, in order. A script without spaces results in one long run.
 */
export function splitWords(text: string): string[] {
  // Most texts are ASCII, for which the classes of Unicode take twice as long.
  return foldText(text).match(ASCII.test(text) ? ASCII_WORD : WORD) ?? []
}

/** Reduces a text to its letters and digits, so that texts with other spaces and punctuation are equal. */
export const lettersOnly = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '')

/** Reduces a text to its words, so that two questions that differ only in case, spacing or punctuation are equal. */
export function wordsOnly(text: string): string {
  return splitWords(text).join(' ')
}
