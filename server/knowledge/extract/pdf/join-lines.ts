import { endsDense, isBreakEmpty, startsDense } from '../text/dense-lines.ts'
import { breaksHangul, type HangulWords, hangulWords } from './hangul-breaks.ts'
import type { PdfLine } from './pdf-lines.ts'

/** The number of characters at the end of a line among which a divided word is looked for. */
const LONGEST_WORD = 100

/** What the lines of a document tell about words that are divided at the end of a line. */
export type DividedWords = { hyphenated: ReadonlySet<string>; hangul: HangulWords }

export const dividedWords = (pages: PdfLine[][]): DividedWords => ({
  hyphenated: hyphenatedWords(pages),
  hangul: hangulWords(pages),
})

/**
 * Joins two lines of a text, and the word that the line break divides. `isWhole` tells whether the first line has
 * room for more, so that it ends with a word.
 */
export function joinLines(left: string, right: string, words: DividedWords, isWhole: () => boolean): string {
  // Only the end of the text is examined, because it grows with every line.
  const last = left.slice(-LONGEST_WORD)
  if (breaksHangul(last, right, words.hangul) && !isWhole()) return left + right
  if (left.endsWith('\u00ad')) return left.slice(0, -1) + right
  const start = /[\p{L}\p{M}]+-$/u.exec(last)?.[0]
  const end = /^\p{Ll}[\p{L}\p{M}]*/u.exec(right)?.[0]
  if (start === undefined || end === undefined)
    return noSpaceBetween(left, right) ? left + right : `${left} ${right}`
  // As in "on- and offline", the hyphen stands for an omitted part of the word.
  if (/^(and|or|und|oder|bzw|bis|y|o|et|ou)$/.test(end)) return `${left} ${right}`
  if (words.hyphenated.has((start + end).toLowerCase())) return left + right
  return left.slice(0, -1) + right
}

/** Chinese and Japanese have no space between a number and its unit either, and a number is broken after a hyphen. */
function noSpaceBetween(left: string, right: string): boolean {
  const [endsInNumber, startsWithNumber] = [/\d$/.test(left), /^\d/.test(right)]
  if ((endsDense(left) && startsWithNumber) || (endsInNumber && startsDense(right))) return true
  if (/\d[-–]$/.test(left.slice(-2)) && startsWithNumber) return true
  return isBreakEmpty(left, right) || /\p{L}-$/u.test(left.slice(-3))
}

/** Returns every hyphenated word inside a line, in lower case, whose hyphen is therefore not a line break. */
function hyphenatedWords(pages: PdfLine[][]): Set<string> {
  const words = new Set<string>()
  for (const { text } of pages.flat()) {
    for (const [word] of text.matchAll(/[\p{L}\p{M}]+-[\p{L}\p{M}]+/gu)) words.add(word.toLowerCase())
  }
  return words
}
