const WORD = /[\p{L}\p{M}\p{N}]+/gu
// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is ASCII
const ASCII = /^[\x00-\x7f]*$/
const INVISIBLE = /[\u00ad\u200b-\u200d\u2060\ufeff]/g

/** Text as it is compared: compatibility forms folded, lower case, soft hyphens and zero-width marks gone. */
export function foldText(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase()
  return text.normalize('NFKC').replace(INVISIBLE, '').toLowerCase()
}

/** The folded runs of letters and digits of a text, in order. Scripts without spaces give one long run. */
export function splitWords(text: string): string[] {
  return foldText(text).match(WORD) ?? []
}

/** A text reduced to its words: equal for two questions that differ in case, spacing or punctuation. */
export function wordsOnly(text: string): string {
  return splitWords(text).join(' ')
}
