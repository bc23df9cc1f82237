import { hasHeader, looksLikeHeader } from '../table-rows.ts'
import type { JoinLines } from './join-lines.ts'
import type { PdfCell, PdfLine } from './pdf-lines.ts'

/** The distance, in font heights, from which on the lines of a table are apart. */
export const FAR_ROW = 4
/** The cells of prose in two columns are longer than this, and the cells of a column are hardly misaligned. */
const MAX_CELL_LENGTH = 45
const MISALIGNED = 1
const ALIGNED = 0.25
/** The lines of a cell above the others of its row, and the distances that may be those within a row, at most. */
const MAX_LINES_ABOVE = 12
const MAX_STEPS = 8

/** A block of HTML, and the line after it. */
export type Block = { html: string; end: number }
/** The rows of a table, the lines with which they begin, and the line after the last. */
type Rows = { rows: string[][]; first: PdfLine[]; end: number }

/** Returns the table that begins with a line. */
export function tableAt(page: readonly PdfLine[], at: number, join: JoinLines): Block | null {
  const found = rowsBetweenGaps(page, at, join) ?? rowsOfLines(page, at, join)
  if (!found || found.rows.length < 2) return null
  const { rows, first, end } = found
  const lengths = page
    .slice(at, end)
    .flatMap(({ cells }) => cells.map(({ text }) => text.trim().length))
    .sort((a, b) => a - b)
  if (lengths[Math.floor(lengths.length / 2)]! > MAX_CELL_LENGTH) return null
  const isNamed = hasHeader(rows) || (hasOwnFont(first) && looksLikeHeader(rows[0]!))
  return { html: tableOf(rows, isNamed), end }
}

/**
 * Returns the rows of a table with cells of several lines, wherever in their row these stand: its lines are nearer to each
 * other within a row than between rows, and one of its columns has exactly one cell in each row.
 */
function rowsBetweenGaps(page: readonly PdfLine[], at: number, join: JoinLines): Rows | null {
  const { columns, places } = columnsFrom(page, at)
  // What stands alone on the left is a paragraph above the table.
  if (columns.length < 2 || places.length < 3 || (places[0]!.length === 1 && places[0]![0] === 0)) return null
  const gaps = page.slice(at + 1, at + places.length).map((line, index) => page[at + index]!.y - line.y)
  const steps = [...new Set(gaps.map((gap) => Math.round(gap)))].sort((a, b) => a - b)
  let best: Rows | null = null
  let fewest = Infinity
  for (const step of steps.slice(0, -1).slice(0, MAX_STEPS)) {
    const starts = [0, ...gaps.flatMap((gap, index) => (Math.round(gap) > step ? [index + 1] : []))]
    const groups = starts.map((start, index) => places.slice(start, starts[index + 1]))
    const count = countRows(groups, (group) => page[at + starts[group]!]!.text.length)
    const whole = groups.slice(0, count).filter(isRow)
    const isAnchor = (column: number): boolean =>
      whole.every((group) => group.filter((line) => line.includes(column)).length === 1)
    const hasLines = whole.length > 1 && whole.some((group) => group.length > 1)
    // What is alone in another column is more likely a line of the row beside it.
    const alone = groups.slice(0, count).filter((group) => !isRow(group) && !isHeading(group)).length
    if (!hasLines || alone >= fewest || !columns.some((_, column) => isAnchor(column))) continue
    fewest = alone
    const rows = groups.slice(0, count).map((group, index) => {
      const row = columns.map(() => '')
      for (const [offset, line] of group.entries())
        for (const [cell, column] of line.entries()) {
          const text = page[at + starts[index]! + offset]!.cells[cell]!.text.trim()
          row[column] = row[column] ? join(row[column], text) : text
        }
      return isHeading(group) ? row.slice(0, 1) : row
    })
    const first = groups
      .slice(0, count)
      .flatMap((group, index) => (isRow(group) ? [page[at + starts[index]!]!] : []))
    best = { rows, first, end: at + (starts[count] ?? places.length) }
  }
  return best
}

const isRow = (group: readonly number[][]): boolean => new Set(group.flat()).size > 1
/** A line of its own on the left is the heading of the rows below it. */
const isHeading = (group: readonly number[][]): boolean =>
  group.length === 1 && group[0]![0] === 0 && !isRow(group)

/** Returns how many groups of lines are rows, headings of rows below them, or single cells of other columns. */
function countRows(groups: readonly number[][][], lengthOf: (group: number) => number): number {
  const end = groups.findIndex((group, at) => {
    const isShort = group.length === 1 && lengthOf(at) <= MAX_CELL_LENGTH
    return !isRow(group) && (at === 0 || !isShort)
  })
  const some = end < 0 ? groups : groups.slice(0, end)
  return some.findLastIndex((group) => !isHeading(group)) + 1
}

/** Returns the columns of the lines from one on, and in which of them the cells of each line are, as long as they are. */
function columnsFrom(page: readonly PdfLine[], at: number): { columns: PdfCell[]; places: number[][] } {
  let columns = page[at]!.cells
  let places: number[][] = []
  for (let end = at; end < page.length; end += 1) {
    const line = page[end]!
    const gap = end === at ? 1 : page[end - 1]!.y - line.y
    if (gap <= 0 || gap > line.size * FAR_ROW) break
    if (columns.length < 2 && places.length > MAX_LINES_ABOVE) break
    const isWider = line.cells.length > columns.length
    const fitting = isWider ? line.cells : columns
    const own = placesIn(fitting, line)
    const others = isWider ? page.slice(at, end).map((before) => placesIn(fitting, before)) : []
    if (!own || others.includes(null)) break
    columns = own.length === fitting.length ? spanning(fitting, line.cells) : fitting
    if (isWider) places = others as number[][]
    places.push(own)
  }
  return { columns, places }
}

/** Returns the columns in which the cells of a line are; null if one is in none or in several, or two are in the same. */
function placesIn(columns: readonly PdfCell[], { cells, size }: PdfLine): number[] | null {
  if (cells.length === columns.length) return cells.map((_, at) => at)
  const places = cells.map((cell) => columnOf(cell, columns, size))
  // The last line of a first cell may be longer than its column.
  const isFirst = cells.length === 1 && Math.abs(cells[0]!.x - columns[0]!.x) < size * ALIGNED
  const isOverTwo =
    !isFirst && cells.some((cell) => columns.filter((column) => isOver(cell, column)).length > 1)
  return isOverTwo || places.includes(-1) || new Set(places).size < places.length ? null : places
}

/** Returns the rows of lines whose cells are in the same columns, and of the lines that continue in one. */
function rowsOfLines(page: readonly PdfLine[], at: number, join: JoinLines): Rows | null {
  let columns: PdfCell[] = page[at]!.cells
  if (columns.length < 2) return null
  const rows: string[][] = []
  const first: PdfLine[] = []
  let end = at
  for (; end < page.length; end += 1) {
    const line = page[end]!
    const gap = end === at ? 0 : page[end - 1]!.y - line.y
    if (gap < 0 || gap > line.size * FAR_ROW) break
    if (line.cells.length > columns.length && rows.length === 0) columns = line.cells
    const isWhole = line.cells.length === columns.length
    const places = line.cells.map((cell, at) => (isWhole ? at : columnOf(cell, columns, line.size)))
    if (isWhole) columns = spanning(columns, line.cells)
    const isRow = line.cells.length > 1
    if (places.includes(-1) || new Set(places).size < places.length || (!isRow && places[0] === 0)) break
    const above = rows.at(-1)
    if (isRow || !above) {
      rows.push(columns.map((_, column) => line.cells[places.indexOf(column)]?.text.trim() ?? ''))
      first.push(line)
    } else above[places[0]!] = join(above[places[0]!]!, line.cells[0]!.text.trim()).trim()
  }
  return { rows, first, end }
}

const spanning = (columns: readonly PdfCell[], cells: readonly PdfCell[]): PdfCell[] =>
  columns.map((column, at) => ({
    ...column,
    x: Math.min(column.x, cells[at]!.x),
    right: Math.max(column.right, cells[at]!.right),
  }))

/** The names of the columns are often in another font than the rows below. */
function hasOwnFont(lines: readonly PdfLine[]): boolean {
  const [first, ...others] = lines.map(({ cells }) => cells.map(({ font }) => font).join('\n'))
  return new Set(others).size === 1 && others[0] !== first
}

const isOver = (cell: PdfCell, other: PdfCell): boolean => cell.x < other.right && cell.right > other.x

/** Returns how far a cell is from being aligned with another on the left, on the right or in the middle. */
const misalignment = (cell: PdfCell, { x, right }: PdfCell): number =>
  Math.min(Math.abs(cell.x - x), Math.abs(cell.right - right), Math.abs(cell.x + cell.right - x - right) / 2)

/** Returns the column of a cell, which is over it or aligned with it; -1 for none. */
function columnOf(cell: PdfCell, columns: readonly PdfCell[], size: number): number {
  const far = columns.map((column) => (isOver(cell, column) ? 0 : misalignment(cell, column)))
  const nearest = Math.min(...far)
  return nearest <= size * MISALIGNED ? far.indexOf(nearest) : -1
}

export const isAligned = (cell: PdfCell, other: PdfCell, size: number): boolean =>
  misalignment(cell, other) <= size * MISALIGNED

function tableOf(rows: readonly string[][], isNamed: boolean): string {
  const html = rows.map((row, at) => {
    const tag = isNamed && at === 0 ? 'th' : 'td'
    const span = row.length === 1 ? ` colspan="${rows[0]!.length}"` : ''
    return `<tr>${row.map((text) => `<${tag}${span}>${escaped(text)}</${tag}>`).join('')}</tr>`
  })
  return `<table>${html.join('')}</table>`
}

export const escaped = (text: string): string =>
  text.replace(/[&<>]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[sign]!)
