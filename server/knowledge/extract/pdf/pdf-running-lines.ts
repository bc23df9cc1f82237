import type { PdfCell, PdfLine } from './pdf-lines.ts'

const ROMAN_NUMBER = /^(?=[ivxl])(?:xl|l?x{0,3})(?:ix|iv|v?i{0,3})$/
const PAGE_NUMBER =
  /^(?:[-–—|]\s*)?(?:(?:page|seite|pagina|página|s\.|p\.)\s*)?\d{1,5}(?:\s*(?:\/|of|von|de|sur|di)\s*\d{1,5})?(?:\s*[-–—|])?$/i
/** The most running lines at the top and at the bottom of a page. */
const MOST_LINES = 2
const FEWEST_PAGES = 4
const FEWEST = 3
/** The tolerance, in points, for the same position. */
const SAME_PLACE = 3
/** A line on this share of the pages is a running line, even if it is as large as a heading. */
const ON_MOST = 0.5
/**
 * When this share of the pages has a running line, the line in the same position on another page counts as one, too.
 */
const IN_MOST_PLACES = 0.6
/** The distance of a running line from the text, in font heights. */
const APART = 1.8

type Edge = { line: PdfLine; key: string; isApart: boolean }

/**
 * Removes page numbers and running headers and footers, which are lines in the same position on several pages with the
 * same text apart from digits, or that repeat the headings of their page. A title that occurs nowhere else is kept once.
 */
export function dropRunningLines(pages: PdfLine[][], headingSize: number): PdfLine[][] {
  if (pages.length < 2) return pages
  // The lines at the top and at the bottom of each page, starting from the edge.
  const edges = pages.flatMap((page) => {
    const down = [...page].sort((a, b) => b.y - a.y)
    return [edgeOf(down), edgeOf(down.toReversed())]
  })
  const places = new Map<string, number[]>()
  for (const { line, key } of edges.flat()) places.set(key, [...(places.get(key) ?? []), line.y])
  const isOfHeadings = repeatsHeadings(pages.flat().filter(({ size }) => size >= headingSize))
  const isSaid = ({ line, key, isApart }: Edge, place: number): boolean => {
    if (PAGE_NUMBER.test(line.text) || key === '#') return true
    if (pages.length < FEWEST_PAGES) return false
    const isLarge = line.size >= headingSize
    if (isLarge && key.includes('#')) return false
    const all = places.get(key) ?? []
    if (all.length > 2 && all.length >= pages.length * ON_MOST) return place === 0 || isApart
    if (!isApart || isLarge) return false
    return all.filter((y) => isNear(y, line.y)).length >= FEWEST || isOfHeadings(line)
  }
  const found = edges.map((edge) => edge.slice(0, lengthWhere(edge, isSaid)))
  const heights = found.flat().map(({ line }) => line.y)
  const isPlaced = ({ line, isApart }: Edge): boolean =>
    isApart &&
    pages.length >= FEWEST_PAGES &&
    line.size < headingSize &&
    heights.filter((y) => isNear(y, line.y)).length >= pages.length * IN_MOST_PLACES
  const running = edges.flatMap((edge) =>
    edge.slice(
      0,
      lengthWhere(edge, (one, place) => isSaid(one, place) || isPlaced(one)),
    ),
  )
  const gone = new Set(running.map(({ line }) => line))
  const kept = pages.flatMap((page) => page.filter((line) => !gone.has(line)))
  const said = new Set(kept.map(({ text }) => keyOf(text)))
  for (const { line, key } of running) {
    if (said.has(key) || key.includes('#') || isOfHeadings(line)) continue
    said.add(key)
    gone.delete(line)
  }
  return pages.map((page) => page.filter((line) => !gone.has(line)))
}

/**
 * Returns a function that tells whether a line consists only of headings and of section or page numbers. A heading may
 * span two lines, or be cut off with an ellipsis.
 */
function repeatsHeadings(headings: readonly PdfLine[]): (line: PdfLine) => boolean {
  const letters = headings.map(({ text }) => lettersOf(text))
  const known = new Set(letters.flatMap((one, at) => [one, one + (letters[at + 1] ?? '')]).filter(Boolean))
  const byStart = new Map<string, string[]>()
  for (const heading of known) {
    const start = heading.slice(0, START)
    const alike = byStart.get(start)
    if (!alike) byStart.set(start, [heading])
    else if (alike.length < MOST_ALIKE) alike.push(heading)
  }
  const isHeading = ({ text }: PdfCell): boolean => {
    const said = lettersOf(text)
    if (known.has(said)) return true
    const isCutOff = /(?:…|\.{2,3})\s*$/.test(text) && said.length >= START
    return isCutOff && (byStart.get(said.slice(0, START)) ?? []).some((heading) => heading.startsWith(said))
  }
  return ({ cells }) =>
    cells.some(isHeading) && cells.every((cell) => isHeading(cell) || SECTION_NUMBER.test(cell.text.trim()))
}

const SECTION_NUMBER = /^\d{1,4}(?:\.\d{1,3})*\.?$/
/** The fewest letters of a heading that is cut off. */
const START = 4
/** The most headings with the same beginning that a line is compared with. */
const MOST_ALIKE = 1_000

/** Returns the letters without the number of the chapter in front of them. */
const lettersOf = (text: string): string =>
  text
    .toLowerCase()
    .replace(/^(?:\p{L}+ )?(?:\d{1,3}(?:\.\d{1,3})*[.:]?|[a-z][.:]) /u, '')
    .replace(/[^\p{L}]+/gu, '')

function edgeOf(lines: readonly PdfLine[]): Edge[] {
  return lines.slice(0, MOST_LINES).map((line, place) => {
    const next = lines[place + 1]
    const isApart = !next || Math.abs(line.y - next.y) > Math.max(line.size, next.size) * APART
    return { line, key: keyOf(line.text), isApart }
  })
}

/** Returns how many there are, counted from the edge. */
function lengthWhere(edge: readonly Edge[], is: (one: Edge, place: number) => boolean): number {
  const end = edge.findIndex((one, place) => !is(one, place))
  return end < 0 ? edge.length : end
}

const isNear = (a: number, b: number): boolean => Math.abs(a - b) <= SAME_PLACE

/** A page number may be before or after the title, or all there is. */
const keyOf = (text: string): string =>
  text
    .replace(ROMAN_NUMBER, '#')
    .toLowerCase()
    .replace(/^\d+\b|\b\d+(?:\s*(?:\/|of|von|de|sur|di)\s*\d+)?$/g, '#')
    .replace(/\s+/g, ' ')
    .trim()
