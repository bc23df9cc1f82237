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

/** Returns whether a text says something. Spaces, punctuation and the numbers of citations do not count. */
export const containsWords = (text: string): boolean => /[^\s\p{P}]/u.test(text.replace(/\[\d+\]/g, ''))

const PLAIN = /^[\x20-\x7f]*$/
const FOLDED = /[\p{sc=Latin}\p{sc=Greek}]\p{Mn}+/gu
const LETTERS: Record<string, string> = { ø: 'o', æ: 'ae', œ: 'oe', ł: 'l', ı: 'i', ß: 'ss', đ: 'd' }

/** Removes the accents of Latin and Greek letters from a word, because people omit them when they type. */
export function foldAccents(word: string): string {
  if (PLAIN.test(word)) return word
  return word
    .normalize('NFD')
    .replace(FOLDED, (letter) => letter.charAt(0))
    .replace(/[øæœłıßđ]/g, (letter) => LETTERS[letter] ?? letter)
    .normalize('NFC')
}

/** Returns the text as one line of at most `longest` characters, the last of which shows that something is missing. */
export function shorten(text: string, longest: number): string {
  const line = oneLine(text)
  return line.length <= longest ? line : `${whole(line.slice(0, longest - 1))}…`
}

/** Does the same, but cuts between words unless one of them takes up more than half of the line. */
export function shortenAtWord(text: string, longest: number): string {
  const line = oneLine(text)
  if (line.length <= longest) return line
  const cut = line.slice(0, longest - 1)
  const atWord = cut.lastIndexOf(' ')
  return `${whole(atWord > longest / 2 ? cut.slice(0, atWord) : cut)}…`
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim()

/** Removes half a character at the end. */
const whole = (text: string): string => text.toWellFormed().replace(/\uFFFD$/, '')

/** Matches a link in Markdown as passages have them. */
const LINK = /\[([^\][\n]{1,500})\]\((?:https?:\/\/|mailto:|tel:)[^\s()]{1,2000}\)/g
const BOLD = /\*\*(?=\S)([^*\n]{1,2000})\*\*/g
const CODE = /(?<!`)`([^`\n]{1,500})`(?!`)/g

/**
 * Returns a passage as its reader sees it, without the marks of links, bold text and code within a line. Whatever counts
 * or compares words uses this.
 */
export function visibleText(text: string): string {
  const words = text.includes('](') ? text.replace(LINK, '$1') : text
  const plain = words.includes('**') ? words.replace(BOLD, '$1') : words
  return plain.includes('`') ? plain.replace(CODE, '$1') : plain
}
