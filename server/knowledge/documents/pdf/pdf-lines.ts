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

/** `font` is the font that the cell begins with. `isNear` tells that the gap before it may be a space between words. */
export type PdfCell = { text: string; x: number; right: number; font: string; isNear: boolean }

/** Characters that have the same width in every font. */
const SQUARE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u

/** Groups a page's text items, in the order of its content stream, into lines. */
export function linesOf(
  items: readonly PdfItem[],
  typefaceOf: (font: string) => string,
  isMonospaced: (font: string) => boolean,
): PdfLine[] {
  const lines = itemsOfLines(items)
    .map((line) => lineOf(fromTheLeft(line), typefaceOf, isMonospaced))
    .filter(({ text }) => text !== '')
  return lines.map((line, at) => {
    const around = lines.slice(Math.max(0, at - LINES_AROUND), at + LINES_AROUND + 1)
    return line.cells.some(({ isNear }) => isNear) ? withinColumns(line, around) : line
  })
}

/** The smallest gap between cells, in font heights; among how many lines it is looked for, and how exactly it is aligned. */
const MIN_GAP = 0.6
const LINES_AROUND = 3
const ALIGNED = 0.25
/** What is aligned on the right is a number. Lines of prose are, too. */
const MAX_NUMBER_LENGTH = 15

/** Returns a line in which a gap that may be a space divides two cells only where a line around has one at its place. */
function withinColumns(line: PdfLine, around: readonly PdfLine[]): PdfLine {
  const others = around.filter((other) => other !== line).flatMap(({ cells }) => cells.slice(1))
  const isNumber = ({ text }: PdfCell): boolean => /\d/.test(text) && text.length <= MAX_NUMBER_LENGTH
  const isBelow = (cell: PdfCell, other: PdfCell): boolean =>
    Math.abs(cell.x - other.x) <= line.size * ALIGNED ||
    (isNumber(cell) && isNumber(other) && Math.abs(cell.right - other.right) <= line.size * ALIGNED)
  const cells: PdfCell[] = []
  for (const cell of line.cells) {
    const last = cells.at(-1)
    if (!last || !cell.isNear || others.some((other) => isBelow(cell, other))) cells.push({ ...cell })
    else Object.assign(last, { text: `${last.text.trimEnd()} ${cell.text.trimStart()}`, right: cell.right })
  }
  return { ...line, cells }
}

/** The height of vertical text is its length. */
const sizeOf = ({ height, transform: [, , skew = 0, scale = 0] }: PdfItem): number =>
  Math.hypot(skew, scale) || height
const xOf = ({ transform }: PdfItem): number => transform[4] ?? 0
const yOf = ({ transform }: PdfItem): number => transform[5] ?? 0
const lengthOf = ({ str }: PdfItem): number => str.trim().length

function itemsOfLines(items: readonly PdfItem[]): PdfItem[][] {
  const lines: PdfItem[][] = []
  let line: { items: PdfItem[]; longest: PdfItem; right: number } | null = null
  for (const item of items) {
    if (item.str !== '') {
      if (line && isElsewhere(line, item)) line = null
      if (line) line.items.push(item)
      else {
        line = { items: [item], longest: item, right: 0 }
        lines.push(line.items)
      }
      // The size of a line is that of its longest run and not of a footnote mark.
      if (lengthOf(item) > lengthOf(line.longest)) line.longest = item
      line.right = xOf(item) + item.width
    }
    if (item.hasEOL) line = null
  }
  return lines
}

/** How far, in font heights, a text is above or below the line that it belongs to, and where it is left of the line's end. */
const OFF = 0.6
const OFF_ON_THE_LEFT = 0.3

function isElsewhere(line: { items: PdfItem[]; longest: PdfItem; right: number }, item: PdfItem): boolean {
  const size = Math.max(sizeOf(line.longest), sizeOf(item))
  const off = xOf(item) < line.right - size ? OFF_ON_THE_LEFT : OFF
  return Math.abs(yOf(line.items[0]!) - yOf(item)) > size * off
}

/** Returns the items of a line as they stand, because some files have a label after its value. */
function fromTheLeft(items: readonly PdfItem[]): readonly PdfItem[] {
  const said = items.filter(({ str }) => str.trim() !== '')
  const isBack = said.some((item, at) => at > 0 && xOf(item) + item.width <= xOf(said[at - 1]!))
  return isBack ? said.toSorted((a, b) => xOf(a) - xOf(b)) : items
}

function lineOf(
  items: readonly PdfItem[],
  typefaceOf: (font: string) => string,
  isMonospaced: (font: string) => boolean,
): PdfLine {
  const said = items.filter(({ str }) => str.trim() !== '')
  const fonts = new Set(said.map(({ fontName }) => typefaceOf(fontName)))
  const longest = said.reduce<PdfItem>(
    (most, item) => (lengthOf(item) > lengthOf(most) ? item : most),
    items[0]!,
  )
  const line: PdfLine = {
    text: '',
    size: sizeOf(longest),
    x: xOf(items[0]!),
    y: yOf(items[0]!),
    right: xOf(items[0]!),
    font: fonts.size === 1 ? [...fonts][0]! : null,
    isTyped: said.every(({ fontName, str }) => isMonospaced(fontName) && !SQUARE.test(str)),
    cells: [],
  }
  for (const item of items) {
    const text = item.str.replace(/\s+/g, ' ')
    const str = line.text !== '' && isRaised(line, item) ? text.replace(/\S+/, raisedDigits) : text
    addItem(line, { ...item, str, fontName: typefaceOf(item.fontName) }, line.size)
  }
  const right = line.cells.at(-1)?.right ?? line.right
  return { ...line, right, text: line.text.replace(/\s+/g, ' ').trim() }
}

/** How much smaller than its line and how far above it the number of a footnote or an exponent is, in font heights. */
const SMALLER = 0.85
const RAISED = 0.1

const isRaised = (line: PdfLine, item: PdfItem): boolean =>
  sizeOf(item) < line.size * SMALLER && yOf(item) - line.y > line.size * RAISED

/** A sign of its own at the beginning of a line. */
const BULLET = /^\s*[^\p{L}\p{N}\s]\s*$/u

function addItem(line: PdfLine, { str: text, transform, width, fontName }: PdfItem, size: number): void {
  const x = transform[4] ?? 0
  // A word ends with the number of its footnote.
  const isApart = (before: string, right: number): boolean =>
    isSpace((x - right) / size, before, text) || (/[⁰¹²³⁴-⁹]$/.test(before) && /^\p{L}/u.test(text))
  line.text += isApart(line.text, line.right) ? ` ${text}` : text
  line.right = x + width
  if (text.trim() === '') return
  const last = line.cells.at(-1)
  // The bullet or number of a list item belongs to its text, however large the gap is.
  const gap = last ? (x - last.right) / size : Infinity
  const isBullet = line.cells.length === 1 && gap <= CELL_GAP && BULLET.test(last?.text ?? '')
  if (!last || (gap > MIN_GAP && !isBullet && !LIST_ITEM.test(`${last.text.trim()} `))) {
    // Leading spaces are an indentation, as some files have it.
    const indent = (width * (text.length - text.trimStart().length)) / text.length
    line.cells.push({ text, x: x + indent, right: x + width, font: fontName, isNear: gap <= CELL_GAP })
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
