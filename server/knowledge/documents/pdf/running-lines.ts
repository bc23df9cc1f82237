import { lettersOnly } from '../../../platform/text/words/words.ts'
import { mostOf, type PdfLine, roundedSize } from './pdf-lines.ts'

const PAGE_NUMBER =
  /^(?:[-–—|]\s*)?(?:(?:page|seite|pagina|página|s\.|p\.)\s*)?(?:\d{1,5}|[ivxl]{1,7})(?:\s*(?:\/|of|von|de|sur|di)\s*\d{1,5})?(?:\s*[-–—|])?$/i
/** On how many pages a running line is, at least this share of them, how far it is from the text, and how long. */
const MIN_PAGES = 3
const SHARE = 0.1
const APART = 1.8
/** The most lines of a header or footer, and of one whose lines differ in their digits or places. */
const MAX_LINES = 6
const MAX_LINES_APART = 2
/** A larger line is a heading. */
const HEADING = 1.15
const MAX_LENGTH = 120

/**
 * Removes page numbers, and running headers and footers: lines at the edges of several pages that are the same. Each text
 * is kept once. Those that differ in their digits are removed as well where they frame a text; alone on their pages, or
 * beside less than they say themselves, they are what the pages say.
 */
export function withoutRunningLines(pages: readonly PdfLine[][]): PdfLine[][] {
  if (pages.length < 2) return pages.map((page) => [...page])
  const least = Math.max(MIN_PAGES, pages.length * SHARE)
  const headingSize = (mostOf(pages.flat(), roundedSize) ?? 0) * HEADING
  const outer = pages.map((page) => edgesOf(page, MAX_LINES))
  const placed = countPages(outer, placedText)
  const isPlaced = (line: PdfLine): boolean =>
    (placed.get(placedText(line)) ?? 0) >= Math.min(least, pages.length)
  const edges = pages.map((page) => {
    // A page that repeats another one as a whole is no frame.
    const blocks = page.every(isPlaced) ? [[], []] : edgesOf(page, MAX_LINES, isPlaced)
    return edgesOf(page, MAX_LINES_APART).map((edge, side) => [...new Set([...edge, ...blocks[side]!])])
  })
  const same = countPages(edges, textOf)
  const alike = countPages(edges, keyOf)
  const isSame = (line: PdfLine): boolean => isPlaced(line) || (same.get(textOf(line)) ?? 0) >= least
  const isRepeated = (line: PdfLine): boolean =>
    PAGE_NUMBER.test(line.text) || (alike.get(keyOf(line)) ?? 0) >= least
  const framing = edges.filter((edge, at) => hasBody(pages[at]!, edge.flat().filter(isRepeated)))
  const besideText = countPages(framing, keyOf)
  const isRunning = (line: PdfLine): boolean => {
    const key = keyOf(line)
    if (PAGE_NUMBER.test(line.text)) return true
    const isNumbered = line.size >= headingSize && key.includes('#')
    return key.length <= MAX_LENGTH && !isNumbered && (isSame(line) || (besideText.get(key) ?? 0) >= least)
  }
  const said = new Set<string>()
  return pages.map((page, at) => {
    const gone = new Set(edges[at]!.flatMap((edge) => edge.slice(0, lengthWhere(edge, isRunning))))
    return page.filter((line) => {
      const isFirst = !said.has(textOf(line)) && isSame(line) && !PAGE_NUMBER.test(line.text)
      said.add(textOf(line))
      return isFirst || !gone.has(line)
    })
  })
}

/** Returns of each page whether it says more than lines at its edges that are alike on several pages. */
export function haveOwnText(pages: readonly PdfLine[][]): boolean[] {
  const edges = pages.map((page) => edgesOf(page, MAX_LINES_APART))
  const alike = countPages(edges, keyOf)
  const isAlike = (line: PdfLine): boolean => (alike.get(keyOf(line)) ?? 0) >= MIN_PAGES
  return pages.map((page, at) => {
    const frame = new Set(edges[at]!.flat().filter(isAlike))
    return page.some((line) => !frame.has(line))
  })
}

/** Returns on how many pages each text of lines at their edges is. */
function countPages(edges: readonly PdfLine[][][], textOf: (line: PdfLine) => string): Map<string, number> {
  const counts = new Map<string, number>()
  for (const page of edges)
    for (const text of new Set(page.flat().map(textOf))) counts.set(text, (counts.get(text) ?? 0) + 1)
  return counts
}

/** Returns whether a page says more than the lines around it. */
function hasBody(page: readonly PdfLine[], frame: readonly PdfLine[]): boolean {
  const lettersIn = (lines: readonly PdfLine[]): number =>
    lettersOnly(lines.map(({ text }) => text).join('')).length
  const inFrame = lettersIn([...new Set(frame)])
  return lettersIn(page) - inFrame > inFrame
}

/** The address of a page that a browser printed. */
const ADDRESS = /(?:^|\s)[a-z][a-z\d+.-]{1,12}:\/\/\S/iu

/**
 * Removes what browsers print around a page: the time, the title, its address, and the number of the page with that of
 * all pages. They are the first and the last line, in letters of the same size.
 */
export function withoutPrintMargins(pages: readonly PdfLine[][]): PdfLine[][] {
  return pages.map((page, at) => {
    const [bottom, ...others] = page.toSorted((a, b) => a.y - b.y)
    const top = others.at(-1)
    if (!bottom || !top || roundedSize(top) !== roundedSize(bottom)) return [...page]
    const margins = `${top.text}\n${bottom.text}`
    const count = new RegExp(`(?:^|\\s)${at + 1}\\s?(?:/|\\p{L}{1,4})\\s?${pages.length}(?:\\s|$)`, 'u')
    const isPrinted = ADDRESS.test(margins) && count.test(margins)
    return page.filter((line) => !isPrinted || (line !== top && line !== bottom))
  })
}

/** Returns the outermost lines at the top and at the bottom of a page, from the edge, that stand apart from the text. */
function edgesOf(page: readonly PdfLine[], most: number, is = (_: PdfLine) => true): PdfLine[][] {
  const down = [...page].sort((a, b) => b.y - a.y)
  return [down, down.toReversed()].map((lines) => {
    const outer = lines.slice(0, Math.min(most, lengthWhere(lines, is)))
    const isApart = (line: PdfLine, at: number): boolean => {
      const next = lines[at + 1]
      return !next || Math.abs(line.y - next.y) > Math.max(line.size, next.size) * APART
    }
    return outer.slice(0, outer.findLastIndex(isApart) + 1)
  })
}

/** Returns how many there are, counted from the edge. */
function lengthWhere(edge: readonly PdfLine[], is: (line: PdfLine) => boolean): number {
  const end = edge.findIndex((line) => !is(line))
  return end < 0 ? edge.length : end
}

const textOf = ({ text }: PdfLine): string => text.toLowerCase()
/** The same words elsewhere on a page are said again. */
const placedText = (line: PdfLine): string => `${Math.round(line.y / line.size)} ${textOf(line)}`
const keyOf = (line: PdfLine): string => textOf(line).replace(/\d+/g, '#')
