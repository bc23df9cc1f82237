import { DENSE_ITEM, startsDense } from '../text/dense-lines.ts'
import { hasRoom } from './hangul-breaks.ts'
import { type DividedWords, joinLines } from './join-lines.ts'
import { codeAt } from './pdf-code.ts'
import { endsSentence, type PdfLine } from './pdf-lines.ts'
import { tableAt } from './pdf-tables.ts'

const BULLET = /^(?:[•·‣▪–—*-]|\(?\d{1,3}[.)]|[a-z]\))\s/
const isItem = (text: string): boolean => BULLET.test(text) || DENSE_ITEM.test(text)

/** The distance, in font heights, from which on lines are paragraphs of their own, and that for full lines. */
const FAR = 1.7
const FARTHEST = 2.2

/** Joins lines to paragraphs of one line each, and joins words that were divided at the end of a line. */
export function paragraphsOf(lines: PdfLine[], words: DividedWords): string[] {
  const paragraphs: string[] = []
  const width = lines.reduce((most, { x, right }) => Math.max(most, right - x), 0)
  let before: PdfLine | null = null
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at]!
    const code = codeAt(lines, at)
    const table = code ? null : tableAt(lines, at, words)
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
      const above = before
      const joined = joinLines(last, line.text, words, () => hasRoom(above, lines))
      paragraphs[paragraphs.length - 1] = isItem(line.text) ? `${last}\n${line.text}` : joined
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
  return !endsShort || isItem(line.text)
}

/** Returns the length, in points, of a line's first word, or of its first character where words have no spaces. */
function lengthOfFirstWord({ text, x, right }: PdfLine): number {
  const word = startsDense(text) || HANGUL.test(text[0]!) ? 1 : text.split(' ', 1)[0]!.length + 1
  return ((right - x) * word) / text.length
}

const HANGUL = /\p{Script=Hangul}/u
