import { hasHeader, looksLikeHeader, tableRows } from '../table-rows.ts'
import { type DividedWords, joinLines } from './join-lines.ts'
import { isCloseTo, type PdfCell, type PdfLine } from './pdf-lines.ts'

/** How far the cells of one column may be misaligned, in font heights. */
const OUT_OF_LINE = 1
const FEWEST_LINES = 3
const FEWEST_OF_WIDE = 2
const WIDE = 3
/** The cells of prose in two columns are longer than this. */
const LONGEST_CELL = 45

type Table = { rows: string[]; length: number }

/** The maximum difference in font size between a header and its rows, in points. */
const SAME_SIZE = 1
/** The number of lines below a header among which a row with all columns is looked for. */
const NEAR_HEADER = 6

/** Returns the table that begins with line `at` of a page, or null. */
export function tableAt(lines: readonly PdfLine[], at: number, words: DividedWords): Table | null {
  const first = lines[at]
  if (!first || first.cells.length < 2) return null
  let columns: PdfCell[] = columnsBelow(first, lines.slice(at + 1, at + 1 + NEAR_HEADER)) ?? first.cells
  let end = at + 1
  while (end < lines.length && isCloseTo(lines[end - 1]!, lines[end]!)) {
    const { cells, size } = lines[end]!
    const wider = cells.length > columns.length ? cells : columns
    const narrower = wider === cells ? columns : cells
    const isPart = cells.length > 1 || (end > at + 1 && continuesCell(cells[0], columns, size))
    if (!isPart || narrower.some((cell) => columnOf(cell, wider, size) < 0)) break
    columns = wider.map((cell) =>
      spanning(cell, narrower[columnsOf(narrower, wider, size).indexOf(wider.indexOf(cell))]),
    )
    end += 1
  }
  const block = lines.slice(at, end)
  const full = block.filter(({ cells }) => cells.length > 1)
  const lengths = full.flatMap(({ cells }) => cells.map(({ text }) => text.length)).sort((a, b) => a - b)
  const isTable =
    full.length >= (columns.length >= WIDE ? FEWEST_OF_WIDE : FEWEST_LINES) &&
    (lengths[Math.floor(lengths.length / 2)] ?? 0) <= LONGEST_CELL
  if (!isTable) return null
  const grid = gridOf(block, columns, words)
  return { rows: tableRows(grid, isNamed(grid, full) ? 1 : 0), length: block.length }
}

/**
 * Returns the columns of a table whose names are centred, in another font, above cells that are aligned to the left or to
 * the right. Such a name overlaps no neighbour of its own cell. Returns null for other tables.
 */
function columnsBelow({ cells: names, size }: PdfLine, below: readonly PdfLine[]): PdfCell[] | null {
  const row = below.find((line) => line.cells.length >= names.length)
  if (!row || Math.abs(row.size - size) > SAME_SIZE) return null
  const { cells } = row
  let last = -1
  const columns = [...cells]
  for (const name of names) {
    const place = cells.findIndex(
      (cell, column) =>
        column > last &&
        cell.font !== name.font &&
        name.x > (cells[column - 1]?.right ?? Number.NEGATIVE_INFINITY) &&
        name.right < (cells[column + 1]?.x ?? Number.POSITIVE_INFINITY),
    )
    if (place < 0) return null
    columns[place] = spanning(cells[place]!, name)
    last = place
  }
  return columns
}

/** The names of columns are often in another font than the rows below. */
function isNamed(grid: readonly (readonly string[])[], full: readonly PdfLine[]): boolean {
  const [top, ...below] = full.map(({ cells }) => cells.map(({ font }) => font).join('\n'))
  const isApart = below.length > 0 && below.every((fonts) => fonts !== top)
  return (isApart && looksLikeHeader(grid[0] ?? [])) || hasHeader(grid)
}

/** A line with a single cell continues the cell above it. */
function gridOf(block: readonly PdfLine[], columns: readonly PdfCell[], words: DividedWords): string[][] {
  const grid: string[][] = []
  for (const { cells, size } of block) {
    const row = columns.map(() => '')
    for (const cell of cells) {
      const column = columnOf(cell, columns, size)
      row[column] = `${row[column]} ${cell.text}`.trim()
    }
    const above = grid.at(-1)
    if (cells.length === 1 && above)
      row.forEach((text, column) => {
        const begun = above[column]
        if (text) above[column] = begun ? joinLines(begun, text, words, () => false) : text
      })
    else grid.push(row)
  }
  return grid
}

/** Returns whether a line with a single cell continues the cell above it, which must not be in the first column. */
function continuesCell(cell: PdfCell | undefined, columns: readonly PdfCell[], size: number): boolean {
  const place = columnOf(cell, columns, size)
  if (!cell || place <= 0) return false
  return (
    cell.x > columns[place - 1]!.right && cell.right < (columns[place + 1]?.x ?? Number.POSITIVE_INFINITY)
  )
}

const columnsOf = (cells: readonly PdfCell[], columns: readonly PdfCell[], size: number): number[] =>
  cells.map((cell) => columnOf(cell, columns, size))

/**
 * Returns the column of a cell, which is aligned with it on the left, on the right or in the middle, or is below it; -1
 * for none.
 */
function columnOf(cell: PdfCell | undefined, columns: readonly PdfCell[], size: number): number {
  if (!cell) return -1
  const far = columns.map(({ x, right }) =>
    Math.min(
      Math.abs(cell.x - x),
      Math.abs(cell.right - right),
      Math.abs(cell.x + cell.right - x - right) / 2,
      cell.x >= x && cell.right <= right ? 0 : Number.POSITIVE_INFINITY,
    ),
  )
  const nearest = Math.min(...far)
  return nearest <= size * OUT_OF_LINE ? far.indexOf(nearest) : -1
}

const spanning = (cell: PdfCell, other: PdfCell | undefined): PdfCell =>
  other ? { ...cell, x: Math.min(cell.x, other.x), right: Math.max(cell.right, other.right) } : cell
