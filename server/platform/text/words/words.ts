const ASCII_WORD = /[a-z0-9]+/g
const WORD = /[\p{L}\p{M}\p{N}]+/gu
// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is ASCII
const ASCII = /^[\x00-\x7f]*$/
const INVISIBLE = /[\u00ad\u200b-\u200d\u2060\ufeff]/g

/** The number of a footnote at a word; what it follows is longer than a unit such as "cm²". */
const FOOTNOTE = /(\p{L}{4})([⁰¹²³⁴-⁹]+)/gu

/**
 * Normalises a text for comparison: folds compatibility forms, lower-cases, and removes soft hyphens and zero-width
 * characters. A raised number at a word is one of its own.
 */
export function foldText(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase()
  return text.replace(FOOTNOTE, '$1 $2').normalize('NFKC').replace(INVISIBLE, '').toLowerCase()
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

const ABBREVIATIONS = new Set(
  `abb abs approx art aufl bd bspw bzw ca chap co corp dept dr eq etc evtl fig ff ggf hr inc inkl jr ltd max min mr mrs
  ms nr no od pp prof resp sec sog sr st str tel usw vgl vol vs zzgl`.split(/\s+/),
)
const LAST_WORD = /(\p{L}+)\.\s*$/u
const NUMBERED = /(?:^|\s)\d{1,2}\.\s*$/u

/**
 * Splits a text into trimmed sentences; line breaks end one too. A full stop after a known abbreviation
 * (`z.B.`, `Dr.`, `e.g.`) or a German ordinal does not. `language` is a code, or `other`.
 */
export function splitSentences(text: string, language: string): string[] {
  const segmenter = segmenterOf(language)
  const sentences: string[] = []
  const add = (text: string): void => {
    const sentence = text.trim()
    if (sentence) sentences.push(sentence)
  }
  for (const line of text.split(/\n+/).flatMap(withoutLongRuns)) {
    if (!MAY_END.test(line.trimEnd().slice(0, -1))) {
      add(line)
      continue
    }
    let start = 0
    for (const { segment, index } of segmenter.segment(line)) {
      const end = index + segment.length
      if (endsInAbbreviation(line.slice(Math.max(start, end - TAIL), end), language)) continue
      add(line.slice(start, end))
      start = end
    }
    add(line.slice(start))
  }
  return sentences
}

const segmenters = new Map<string, Intl.Segmenter>()

function segmenterOf(language: string): Intl.Segmenter {
  const known = segmenters.get(language)
  if (known) return known
  const locale = language === 'other' ? undefined : language
  const segmenter = new Intl.Segmenter(locale, { granularity: 'sentence' })
  segmenters.set(language, segmenter)
  return segmenter
}

/** Matches a character that can end a sentence. Segmenting a line costs far more than looking for one. */
const MAY_END = /[\p{Sentence_Terminal}\r\u0085\u2028\u2029]/u

/** The segmenter's time grows with the square of the length of a run without an end of a sentence. */
const MAX_RUN_LENGTH = 400
const LONG_RUN = new RegExp(`[^\\s.!?。！？]{${MAX_RUN_LENGTH}}`, 'g')

const withoutLongRuns = (line: string): string[] =>
  line.length <= MAX_RUN_LENGTH ? [line] : line.replace(LONG_RUN, '$&\n').split('\n')

/** The number of characters at the end of a sentence that decide whether it ends there. */
const TAIL = 40

function endsInAbbreviation(text: string, language: string): boolean {
  if (language === 'de' && NUMBERED.test(text)) return true
  const last = LAST_WORD.exec(text)?.[1]?.toLowerCase()
  // One letter alone is an initial or part of `z. B.`, hardly ever the end.
  return last !== undefined && (/^[a-z]$/.test(last) || ABBREVIATIONS.has(last))
}
