import type { PdfFont, PdfPage } from 'pdfjs-dist/legacy/build/pdf.mjs'
import { splitWords } from '../../../platform/text/words/words.ts'
import type { PdfItem } from './right-to-left.ts'

/**
 * Returns whether a font draws glyphs by their numbers without saying which letters they are. The library then takes the
 * number of a glyph for that of a letter: its map has bounds instead of entries.
 */
export const isUnmapped = ({ composite, toUnicode }: PdfFont): boolean =>
  composite === true && toUnicode !== undefined && !('_map' in toUnicode)

/** Two in a row, because a single one is a bullet or another sign of a font of its own. */
const NO_LETTERS = /[\p{Cc}\p{Co}\ufffd]{2,}/gu

/** Returns how many letters of a page cannot be read. */
export function countUnreadable(items: readonly PdfItem[], unmapped: ReadonlySet<string>): number {
  const lost = items.filter(({ fontName }) => unmapped.has(fontName))
  const rest = items.filter(({ fontName }) => !unmapped.has(fontName))
  const signs =
    rest
      .map(({ str }) => str)
      .join('')
      .match(NO_LETTERS) ?? []
  return [...lost.map(({ str }) => str.trim()), ...signs].reduce((sum, { length }) => sum + length, 0)
}

const PICTURE = /^paint(?:Image|Inline|Solid)|^shadingFill$/

/** Returns whether a page without text shows something else: pictures or, if they count, drawings, which may be letters. */
export async function drawsSomething(page: PdfPage, countsPaths: boolean): Promise<boolean> {
  const { OPS } = await import('pdfjs-dist/legacy/build/pdf.mjs')
  const { fnArray, argsArray } = await page.getOperatorList().catch(() => ({ fnArray: [], argsArray: [] }))
  const pictures = new Set(Object.keys(OPS).flatMap((name) => (PICTURE.test(name) ? (OPS[name] ?? []) : [])))
  return fnArray.some((operation, at) =>
    // A path that only bounds what is drawn ends without being painted.
    operation === OPS.constructPath
      ? countsPaths && argsArray[at]?.[0] !== OPS.endPath
      : pictures.has(operation),
  )
}

/** How far a text is above or below the one before it, and how near it begins, in heights of the larger one. */
const RAISED = 0.1
const LINE = 0.6
const NEAR = 0.2

/**
 * Returns how many words of a page stand at an angle, or directly at a text that is above or below their line, as in
 * drawings and formulas. No program can be sure where these begin and end.
 */
export function countUnsure(items: readonly PdfItem[]): number {
  let count = 0
  let before: PdfItem | undefined
  for (const item of items) {
    if (item.str.trim() === '') continue
    if (before && isRaisedNumber(before, item)) continue
    const words = splitWords(item.str).length
    if (isTurned(item)) count += words
    else if (before && !isTurned(before) && isRaised(before, item) && isJoined(before, item)) count += 1
    before = item
  }
  return count
}

const isTurned = ({ transform: [, turn = 0, skew = 0, scale = 0] }: PdfItem): boolean =>
  Math.abs(turn) > Math.abs(scale) / 10 && Math.abs(skew) > 0

/** Returns whether the item is a raised number, such as a footnote mark, of the text before it. */
const isRaisedNumber = (before: PdfItem, item: PdfItem): boolean =>
  /^[\d\s,–-]+$/.test(item.str) && item.height < before.height && isRaised(before, item)

/** Returns whether the letters of two texts would be one word. */
const isJoined = (before: PdfItem, item: PdfItem): boolean =>
  /[\p{L}\p{N}]$/u.test(before.str) && /^[\p{L}\p{N}]/u.test(item.str)

function isRaised(before: PdfItem, item: PdfItem): boolean {
  const [x, y] = [
    (item.transform[4] ?? 0) - (before.transform[4] ?? 0) - before.width,
    (item.transform[5] ?? 0) - (before.transform[5] ?? 0),
  ]
  const size = Math.max(before.height, item.height)
  return Math.abs(y) > size * RAISED && Math.abs(y) < size * LINE && Math.abs(x) < size * NEAR
}
