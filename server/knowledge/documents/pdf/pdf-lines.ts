import { LIST_ITEM } from '../text/dense-lines.ts'
import { raisedDigits } from '../text/raised-digits.ts'
import { CELL_GAP, isSpace, type PdfItem } from './right-to-left.ts'

/**
 * One visual line. `size` is the font height in points; `y` grows upwards. `cells` are its parts with large gaps
 * between them. `font` is null when it has several; `isTyped` tells that it is monospaced.
 */
export type PdfLine = {
  text: string
  size: number
  x: number
  y: number
  right: number
  font: string | null
  isTyped: boolean
  cells: PdfCell[]
}

/** `font` is the font that the cell begins with. */
export type PdfCell = { text: string; x: number; right: number; font: string }

/** Characters that have the same width in every font. */
const SQUARE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u

/** Groups a page's text items, in the order of its content stream, into lines. */
export function linesOf(
  items: readonly PdfItem[],
  typefaceOf: (font: string) => string,
  isMonospaced: (font: string) => boolean,
): PdfLine[] {
  const lines: PdfLine[] = []
  let line: PdfLine | null = null
  let longest = 0
  for (const item of items) {
    const [, , skew = 0, scale = 0, x = 0, y = 0] = item.transform
    const size = item.height || Math.hypot(skew, scale)
    const text = item.str.replace(/\s+/g, ' ')
    const shown = line && isRaised(line, size, y) ? text.replace(/\S+/, raisedDigits) : text
    const font = typefaceOf(item.fontName)
    const isBlank = text.trim() === ''
    if (text !== '') {
      if (line && isElsewhere(line, x, y, Math.max(line.size, size))) line = null
      if (!line) {
        line = {
          text: '',
          size,
          x,
          y,
          right: x,
          font: isBlank ? null : font,
          isTyped: true,
          cells: [],
        }
        lines.push(line)
        longest = 0
      }
      addItem(line, { ...item, str: shown, fontName: font }, size)
      if (!isBlank && line.text.trim() !== text.trim() && line.font !== font) line.font = null
      if (!isBlank) line.isTyped &&= isMonospaced(item.fontName) && !SQUARE.test(text)
      // The size of a line is that of its longest run and not of a footnote mark.
      if (text.trim().length > longest) line.size = size
      longest = Math.max(longest, text.trim().length)
    }
    if (item.hasEOL) line = null
  }
  return lines
    .map((one) => ({ ...one, text: one.text.replace(/\s+/g, ' ').trim() }))
    .filter(({ text }) => text !== '')
}

/** How far, in font heights, a text is above or below the line that it belongs to, and where it is left of the line's end. */
const OFF = 0.6
const OFF_ON_THE_LEFT = 0.3

const isElsewhere = (line: PdfLine, x: number, y: number, size: number): boolean =>
  Math.abs(line.y - y) > size * (x < line.right - size ? OFF_ON_THE_LEFT : OFF)

/** How much smaller than its line and how far above it the number of a footnote or an exponent is, in font heights. */
const SMALLER = 0.85
const RAISED = 0.1

const isRaised = (line: PdfLine, size: number, y: number): boolean =>
  size < line.size * SMALLER && y - line.y > line.size * RAISED

function addItem(line: PdfLine, { str: text, transform, width, fontName }: PdfItem, size: number): void {
  const x = transform[4] ?? 0
  const isApart = (before: string, right: number): boolean => isSpace((x - right) / size, before, text)
  line.text += isApart(line.text, line.right) ? ` ${text}` : text
  line.right = x + width
  if (text.trim() === '') return
  const last = line.cells.at(-1)
  // The bullet or number of a list item belongs to its text, however large the gap is.
  if (!last || (x - last.right > size * CELL_GAP && !LIST_ITEM.test(`${last.text.trim()} `))) {
    // Leading spaces are an indentation, as some files have it.
    const indent = (width * (text.length - text.trimStart().length)) / text.length
    line.cells.push({ text, x: x + indent, right: x + width, font: fontName })
    return
  }
  last.text += isApart(last.text, last.right) ? ` ${text}` : text
  last.right = x + width
}

export const endsSentence = ({ text }: PdfLine): boolean => /[.!?:。！？]["'”’)]?$/.test(text)

/** Returns the font height in steps of half a point, because equal fonts differ by rounding. */
export const roundedSize = ({ size }: PdfLine): number => Math.round(size * 2) / 2

/** Returns the value that the lines with the most characters share. */
export function mostOf<T>(lines: readonly PdfLine[], traitOf: (line: PdfLine) => T): T | null {
  const characters = new Map<T, number>()
  for (const line of lines)
    characters.set(traitOf(line), (characters.get(traitOf(line)) ?? 0) + line.text.length)
  return [...characters].reduce<[T | null, number]>(
    (best, one) => (one[1] > best[1] ? one : best),
    [null, 0],
  )[0]
}
