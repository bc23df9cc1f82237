import type { PdfLine } from './pdf-lines.ts'
import { FAR_ROW, isAligned } from './pdf-table.ts'

/** The most lines of a cell; columns of prose have more. */
const MAX_LINES = 8
/** Among how many rows before and after one its columns are looked for. */
const ROWS_AROUND = 8
/** How far two lines that stand beside each other are from the same height at most, in font heights. */
const BESIDE = 0.3

/** Lines that follow each other in the file from the top of one or more columns to their end, and where they go up again. */
type Row = { lines: PdfLine[]; column: PdfLine[]; beside: PdfLine[] }

/**
 * Returns the lines of a page from the top to the bottom where the file has the cells of a row one after the other, each
 * with all of its lines. What stands beside other text only once is a column of the page.
 */
export function withWholeRows(lines: readonly PdfLine[]): PdfLine[] {
  const rows = rowsOf(lines)
  return rows.flatMap((row, at) => {
    if (row.beside.length === 0) return row.lines
    const around = rows
      .slice(Math.max(0, at - ROWS_AROUND), at + ROWS_AROUND + 1)
      .flatMap((other) => [
        ...other.lines.filter(({ cells }) => cells.length > 1),
        ...(other === row ? [] : other.beside),
      ])
    const isInTable = row.beside.every((line) =>
      around.some((other) => other !== line && isNear(row, other) && isInColumnOf(line, other)),
    )
    return isInTable ? fromTop(row.lines) : row.lines
  })
}

/** Whether a line may be in the row above or below. */
const isNear = ({ lines }: Row, { y, size }: PdfLine): boolean =>
  lines.some((line) => Math.abs(line.y - y) < size * FAR_ROW * 2)

/** Returns whether the first cell of a line is below or above a cell of another that is not its first. */
const isInColumnOf = ({ cells, size }: PdfLine, other: PdfLine): boolean =>
  other.cells.some((cell, at) => (at > 0 || other.cells.length === 1) && isAligned(cells[0]!, cell, size))

function rowsOf(lines: readonly PdfLine[]): Row[] {
  const rows: Row[] = []
  for (const line of lines) {
    const row = rows.at(-1)
    if (row && isBeside(row, line)) {
      row.column = [line]
      row.beside.push(line)
      row.lines.push(line)
    } else if (row && isBelow(row, line)) {
      row.column.push(line)
      row.lines.push(line)
    } else rows.push({ lines: [line], column: [line], beside: [] })
  }
  return rows
}

/** Returns whether a line is on the right of the cell that was written last, and not below it. */
function isBeside({ lines, column }: Row, line: PdfLine): boolean {
  const heights = lines.slice(-MAX_LINES).map(({ y }) => y)
  const isLevel =
    line.y >= Math.min(...heights) - line.size * BESIDE &&
    line.y <= Math.max(...heights) + line.size * FAR_ROW
  // What is above it may be a paragraph before the table.
  const cell = column.slice(-MAX_LINES).filter(({ y }) => y <= line.y + line.size * BESIDE)
  return isLevel && cell.every(({ right }) => right < line.x)
}

/** Returns whether a line continues the cell that was written last. */
function isBelow({ column, beside }: Row, line: PdfLine): boolean {
  const [first, last] = [column[0]!, column.at(-1)!]
  // Before something stands beside it, a line with several cells is a row of its own.
  const isRow = line.cells.length > 1 && beside.length === 0
  if (isRow || line.y >= last.y || last.y - line.y > line.size * FAR_ROW) return false
  const cell = first.cells.at(-1)
  const isIndented = first.cells.length > 1 || beside.length > 0
  return cell !== undefined && (isIndented ? line.x >= cell.x - line.size : line.x >= first.x - line.size)
}

/** Sorts lines from the top to the bottom, and joins those that stand beside each other. */
function fromTop(lines: readonly PdfLine[]): PdfLine[] {
  const sorted: PdfLine[] = []
  for (const line of lines.toSorted((a, b) => b.y - a.y)) {
    const last = sorted.at(-1)
    if (last && last.y - line.y <= Math.min(last.size, line.size) * BESIDE)
      sorted[sorted.length - 1] = last.x < line.x ? joined(last, line) : joined(line, last)
    else sorted.push(line)
  }
  return sorted
}

const joined = (left: PdfLine, right: PdfLine): PdfLine => ({
  ...left,
  text: `${left.text} ${right.text}`,
  right: right.right,
  font: left.font === right.font ? left.font : null,
  isTyped: left.isTyped && right.isTyped,
  cells: [...left.cells, ...right.cells],
})
