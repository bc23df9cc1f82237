import type { PdfFont, PdfPage } from 'pdfjs-dist/legacy/build/pdf.mjs'
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
