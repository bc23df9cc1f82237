import { breaksHangul, type HangulWords, hangulWords, hasRoom } from './hangul-breaks.ts'
import { codeAt } from './pdf-code.ts'
import { endsSentence, type PdfLine } from './pdf-lines.ts'
import { tableAt } from './pdf-tables.ts'

const bullet = /^(?:[•·‣▪–—*-]|\(?\d{1,3}[.)]|[a-z]\))\s/

const LONGEST_WORD = 100
/** The distance, in font heights, from which on lines are paragraphs of their own, and that for full lines. */
const FAR = 1.7
const FARTHEST = 2.2

/** What the lines of a document tell about words that are divided at the end of a line. */
type DividedWords = { hyphenated: ReadonlySet<string>; hangul: HangulWords }

export const dividedWords = (pages: PdfLine[][]): DividedWords => ({
  hyphenated: hyphenatedWords(pages),
  hangul: hangulWords(pages),
})

/** Joins lines to paragraphs of one line each, and joins words that were divided at the end of a line. */
export function paragraphsOf(lines: PdfLine[], words: DividedWords): string[] {
  const paragraphs: string[] = []
  const width = lines.reduce((most, { x, right }) => Math.max(most, right - x), 0)
  let before: PdfLine | null = null
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at]!
    const code = codeAt(lines, at)
    const table = code ? null : tableAt(lines, at)
    if (code) paragraphs.push(code.text)
    if (table) paragraphs.push(table.rows.join('\n'))
    const block = code ?? table
    if (block) {
      at += block.length - 1
      before = null
      continue
    }
    const last = paragraphs.at(-1)
    if (before && last !== undefined && continues(before, line, width)) {
      const isWhole =
        !breaksHangul(last.slice(-LONGEST_WORD), line.text, words.hangul) || hasRoom(before, lines)
      const joined = isWhole ? join(last, line.text, words.hyphenated) : last + line.text
      paragraphs[paragraphs.length - 1] = bullet.test(line.text) ? `${last}\n${line.text}` : joined
    } else paragraphs.push(line.text)
    before = line
  }
  return paragraphs
}

function continues(before: PdfLine, line: PdfLine, width: number): boolean {
  const gap = (before.y - line.y) / Math.max(before.size, line.size)
  const isComplete = endsSentence(before)
  // Lines may be far apart within a paragraph, too, where one is full and ends within a sentence.
  const isFull = before.right + lengthOfFirstWord(line) > before.x + width - before.size
  if (gap < 0 || gap > (isFull && !isComplete ? FARTHEST : FAR)) return false
  // A command on a line of its own is a paragraph of its own.
  if (before.isTyped !== line.isTyped && (isComplete || /^\p{Lu}/u.test(line.text))) return false
  const endsShort = before.right - before.x < width * 0.6 && isComplete
  return !endsShort || bullet.test(line.text)
}

/** Returns the length, in points, of a line's first word, or of its first character where words have no spaces. */
function lengthOfFirstWord({ text, x, right }: PdfLine): number {
  const word = DENSE.test(text[0]!) || HANGUL.test(text[0]!) ? 1 : text.split(' ', 1)[0]!.length + 1
  return ((right - x) * word) / text.length
}

const HANGUL = /\p{Script=Hangul}/u

function join(left: string, right: string, words: ReadonlySet<string>): string {
  if (left.endsWith('\u00ad')) return left.slice(0, -1) + right
  // Only the end of the paragraph is examined, because it grows with every line.
  const start = /[\p{L}\p{M}]+-$/u.exec(left.slice(-LONGEST_WORD))?.[0]
  const end = /^\p{Ll}[\p{L}\p{M}]*/u.exec(right)?.[0]
  if (start === undefined || end === undefined)
    return noSpaceBetween(left, right) ? left + right : `${left} ${right}`
  // As in "on- and offline", the hyphen stands for an omitted part of the word.
  if (/^(and|or|und|oder|bzw|bis|y|o|et|ou)$/.test(end)) return `${left} ${right}`
  if (words.has((start + end).toLowerCase())) return left + right
  return left.slice(0, -1) + right
}

// Chinese and Japanese have no space between lines, nor between a number and its unit.
function noSpaceBetween(left: string, right: string): boolean {
  const isDense = (text: string): boolean => DENSE.test(text)
  const [end = '', start = ''] = [left.at(-1), right[0]]
  const isInside =
    (isDense(end) && (isDense(start) || /\d/.test(start))) || (/\d/.test(end) && isDense(start))
  return isInside || /\p{L}-$/u.test(left.slice(-3))
}

const DENSE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}。、，！？：；「」（）]/u

/** Returns every hyphenated word inside a line, in lower case, whose hyphen is therefore not a line break. */
function hyphenatedWords(pages: PdfLine[][]): Set<string> {
  const words = new Set<string>()
  for (const { text } of pages.flat()) {
    for (const [word] of text.matchAll(/[\p{L}\p{M}]+-[\p{L}\p{M}]+/gu)) words.add(word.toLowerCase())
  }
  return words
}
