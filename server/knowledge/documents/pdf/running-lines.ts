import { mostOf, type PdfLine, roundedSize } from './pdf-lines.ts'

const PAGE_NUMBER =
  /^(?:[-–—|]\s*)?(?:(?:page|seite|pagina|página|s\.|p\.)\s*)?(?:\d{1,5}|[ivxl]{1,7})(?:\s*(?:\/|of|von|de|sur|di)\s*\d{1,5})?(?:\s*[-–—|])?$/i
/** On how many pages a running line is, at least this share of them, how far it is from the text, and how long. */
const MIN_PAGES = 3
const SHARE = 0.1
const APART = 1.8
/** A larger line is a heading. */
const HEADING = 1.15
const MAX_LENGTH = 120

/**
 * Removes page numbers, and running headers and footers: lines at the edges of several pages that are the same apart
 * from digits. A text without numbers is kept once.
 */
export function withoutRunningLines(pages: readonly PdfLine[][]): PdfLine[][] {
  if (pages.length < 2) return pages.map((page) => [...page])
  const headingSize = (mostOf(pages.flat(), roundedSize) ?? 0) * HEADING
  const places = new Map<string, number>()
  for (const page of pages)
    for (const key of new Set(edgesOf(page).flat().map(keyOf))) places.set(key, (places.get(key) ?? 0) + 1)
  const isRunning = (line: PdfLine): boolean => {
    const key = keyOf(line)
    if (PAGE_NUMBER.test(line.text)) return true
    const isNumbered = line.size >= headingSize && key.includes('#')
    return (
      key.length <= MAX_LENGTH &&
      !isNumbered &&
      (places.get(key) ?? 0) >= Math.max(MIN_PAGES, pages.length * SHARE)
    )
  }
  const said = new Set<string>()
  return pages.map((page) => {
    const gone = new Set(edgesOf(page).flatMap((edge) => edge.slice(0, lengthWhere(edge, isRunning))))
    return page.filter((line) => {
      const key = keyOf(line)
      const isFirst = !said.has(key) && !key.includes('#') && !PAGE_NUMBER.test(key)
      said.add(key)
      return isFirst || !gone.has(line)
    })
  })
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

/** Returns the two outermost lines at the top and at the bottom of a page, from the edge, that stand apart from the text. */
function edgesOf(page: readonly PdfLine[]): PdfLine[][] {
  const down = [...page].sort((a, b) => b.y - a.y)
  return [down, down.toReversed()].map((lines) => {
    const isApart = (at: number): boolean => {
      const [line, next] = [lines[at], lines[at + 1]]
      return !line || !next || Math.abs(line.y - next.y) > Math.max(line.size, next.size) * APART
    }
    return isApart(0) ? lines.slice(0, isApart(1) ? 2 : 1) : isApart(1) ? lines.slice(0, 2) : []
  })
}

/** Returns how many there are, counted from the edge. */
function lengthWhere(edge: readonly PdfLine[], is: (line: PdfLine) => boolean): number {
  const end = edge.findIndex((line) => !is(line))
  return end < 0 ? edge.length : end
}

const keyOf = ({ text }: PdfLine): string => text.toLowerCase().replace(/\d+/g, '#')
