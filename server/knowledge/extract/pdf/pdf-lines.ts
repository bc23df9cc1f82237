import type { PdfFonts } from './pdf-fonts.ts'

/**
 * One visual line. `size` is the font height in points; `y` grows upwards; `right` is the end of its text. `cells` are
 * its parts with large gaps between them. `font` is the name of its font, null when it has several. `isTyped`
 * means that all of it is in a monospaced font.
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

/** `font` is the name of the font that the cell begins with. */
export type PdfCell = { text: string; x: number; right: number; font: string }

export type PdfItem = {
  str: string
  transform: number[]
  width: number
  height: number
  hasEOL: boolean
  fontName: string
}

/** The gap, in font heights, that is wider than any space between words. */
export const CELL_GAP = 1.3
/** The bullet or number of a list item belongs to its text, however large the gap is. */
const MARKER = /^(?:[•‣▪◦●■–—*-]|\(?\d{1,3}[.)]|[a-z]\))$/

/** Characters that have the same width in every font. */
const SQUARE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u

/** Groups a page's text items, in the order of its content stream, into lines. */
export function linesOf(
  items: readonly PdfItem[],
  { nameOf, isMonospaced }: Pick<PdfFonts, 'nameOf' | 'isMonospaced'>,
): PdfLine[] {
  const isCode = ({ fontName, str }: PdfItem): boolean => isMonospaced(fontName) && !SQUARE.test(str)
  const lines: PdfLine[] = []
  let line: PdfLine | null = null
  let longest = 0
  for (const item of items) {
    const [, , skew = 0, scale = 0, x = 0, y = 0] = item.transform
    const size = item.height || Math.hypot(skew, scale)
    const text = item.str.replace(/\s+/g, ' ')
    const font = nameOf(item.fontName)
    const cell = cellOf(item, text, font)
    if (text !== '') {
      if (line && Math.abs(line.y - y) > Math.max(line.size, size) * 0.6) {
        lines.push(line)
        line = null
      }
      if (line) {
        if (x - line.right > size * 0.25 && !/\s$/.test(line.text) && !text.startsWith(' ')) line.text += ' '
        line.text += text
        line.right = x + item.width
        if (text.trim() !== '' && line.font !== font) line.font = null
        line.isTyped &&= text.trim() === '' || isCode(item)
        addToCells(line.cells, cell, size)
        // The size of a line is that of its longest run and not of a footnote mark.
        if (text.trim().length > longest) line.size = size
        longest = Math.max(longest, text.trim().length)
      } else {
        const isBlank = text.trim() === ''
        const cells = isBlank ? [] : [cell]
        const isTyped = isBlank || isCode(item)
        line = { text, size, x, y, right: x + item.width, font, isTyped, cells }
        longest = text.trim().length
      }
    }
    if (item.hasEOL && line) {
      lines.push(line)
      line = null
    }
  }
  if (line) lines.push(line)
  return lines
    .map((one) => ({ ...one, text: one.text.replace(/\s+/g, ' ').trim() }))
    .filter(({ text }) => text !== '')
}

/** Returns the cell of an item. Leading spaces are an indentation, as some files have it, and not part of the cell. */
function cellOf({ str, transform, width }: PdfItem, text: string, font: string): PdfCell {
  const [, , , , x = 0] = transform
  const indent = str.length - str.trimStart().length
  return { text, x: x + (width * indent) / Math.max(str.length, 1), right: x + width, font }
}

function addToCells(cells: PdfCell[], next: PdfCell, size: number): void {
  const { text } = next
  if (text.trim() === '') return
  const last = cells.at(-1)
  const gap = last ? next.x - last.right : 0
  if (!last || (gap > size * CELL_GAP && !MARKER.test(last.text.trim()))) {
    cells.push(next)
    return
  }
  last.text += gap > size * 0.25 && !/\s$/.test(last.text) && !text.startsWith(' ') ? ` ${text}` : text
  last.right = next.right
}

/** The largest distance between two lines of a table or of code, in font heights; blank lines leave gaps. */
const LINE_GAP = 4

/** Returns whether a line is below another one and close enough to be part of the same table or code. */
export const isCloseTo = (before: PdfLine, line: PdfLine): boolean => {
  const gap = before.y - line.y
  return gap > 0 && gap < Math.max(before.size, line.size) * LINE_GAP
}

export const endsSentence = ({ text }: PdfLine): boolean => /[.!?:。！？]["'”’)]?$/.test(text)

/** Returns the font height of most characters, which is that of the body text. */
export const bodySizeOf = (pages: PdfLine[][]): number => mostOf(pages, roundedSize) ?? 0

/** Returns the font height in steps of half a point, because equal fonts differ by rounding. */
export const roundedSize = ({ size }: PdfLine): number => Math.round(size * 2) / 2

/** Returns the font of most characters. Lines in several fonts do not count. */
export const bodyFontOf = (pages: PdfLine[][]): string | null =>
  mostOf(
    pages.map((page) => page.filter(({ font }) => font !== null)),
    ({ font }) => font,
  )

/** Returns the value that the lines with the most characters share. */
function mostOf<T>(pages: PdfLine[][], traitOf: (line: PdfLine) => T): T | null {
  const characters = new Map<T, number>()
  for (const line of pages.flat()) {
    const value = traitOf(line)
    characters.set(value, (characters.get(value) ?? 0) + line.text.length)
  }
  return [...characters].reduce<[T | null, number]>(
    (best, entry) => (entry[1] > best[1] ? entry : best),
    [null, 0],
  )[0]
}
