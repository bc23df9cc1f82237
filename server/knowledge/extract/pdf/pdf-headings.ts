import { bodyFontOf, bodySizeOf, endsSentence, type PdfLine, roundedSize } from './pdf-lines.ts'

/** How much larger than the body text a heading is, and its maximum length. */
const SCALE = 1.15
const LONGEST = 200
/** The maximum length and number of lines of a heading that differs from the body text by its font alone. */
const LONGEST_IN_FONT = 100
const MOST_LINES_IN_FONT = 2
/** The largest distance of such a heading from its text, in font heights. */
const NEAR = 3
/** The share of the next line's length from which on a title may be the beginning of its sentence. */
const FULL = 0.7
/** The most heading levels: when every line has a different font size, sizes say nothing about the outline. */
const DEEPEST = 6

/** Returns the size from which on a line is a heading, in points. */
export const headingSizeOf = (pages: PdfLine[][]): number => bodySizeOf(pages) * SCALE

/**
 * Returns a function that returns the heading level of line `at` of a page, or null if the line is not a heading.
 * Headings are larger than the body text, or stand alone in another font above text in the font of the body. Level 1
 * is the outermost.
 */
export function headingLevels(pages: PdfLine[][]): (page: readonly PdfLine[], at: number) => number | null {
  const headingSize = headingSizeOf(pages)
  const bodyFont = bodyFontOf(pages)
  const isLarge = ({ size, text }: PdfLine): boolean =>
    size >= headingSize && text.length <= LONGEST && /\p{L}/u.test(text)
  const sizes = [...new Set(pages.flat().filter(isLarge).map(roundedSize))].sort((a, b) => b - a)

  const isBody = (line: PdfLine): boolean => !isLarge(line) && (line.font === null || line.font === bodyFont)
  const isInFont = (page: readonly PdfLine[], at: number): boolean => {
    const line = page[at]!
    if (line.font === null || line.font === bodyFont || line.isTyped || line.cells.length > 1) return false
    let first = at
    while (at - first < MOST_LINES_IN_FONT && isAlike(page[first - 1], line)) first -= 1
    let next = at + 1
    while (next - at <= MOST_LINES_IN_FONT && isAlike(page[next], line)) next += 1
    const title = page.slice(first, next)
    const before = page[first - 1]
    const after = page[next]
    return (
      title.length <= MOST_LINES_IN_FONT &&
      isTitle(title.map(({ text }) => text).join(' ')) &&
      (!before || isLarge(before) || endsBefore(before, title[0]!)) &&
      after !== undefined &&
      isBody(after) &&
      !goesOnIn(after, line) &&
      after.y < line.y &&
      line.y - after.y < NEAR * line.size
    )
  }
  return (page, at) => {
    const line = page[at]!
    if (isLarge(line)) return Math.min(sizes.indexOf(roundedSize(line)) + 1, DEEPEST)
    return isInFont(page, at) ? Math.min(sizes.length + 1, DEEPEST) : null
  }
}

const isAlike = (other: PdfLine | undefined, line: PdfLine): boolean =>
  other?.font === line.font && roundedSize(other) === roundedSize(line)

/**
 * Returns whether the line after a title continues it: with words in the same font, or in the middle of a sentence, as
 * where the first words of a paragraph are bold and fill a line.
 */
const goesOnIn = (after: PdfLine, title: PdfLine): boolean =>
  after.cells[0]?.font === title.font ||
  (/^\p{Ll}{2}/u.test(after.text) &&
    !/[?？]$/.test(title.text) &&
    title.right - title.x >= (after.right - after.x) * FULL)

/** A title begins like a sentence and does not end like one, but may be a question. */
const isTitle = (text: string): boolean =>
  text.length <= LONGEST_IN_FONT &&
  /^["'“„«¿(]?[\p{Lu}\p{Lo}\p{N}]/u.test(text) &&
  /\p{L}{2}|\p{Lo}/u.test(text) &&
  !/[.,;:!。、，；：！-]$/.test(text)

const endsBefore = (before: PdfLine, line: PdfLine): boolean =>
  before.y - line.y > line.size * 1.4 || endsSentence(before)
