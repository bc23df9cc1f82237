import { gridOf, hasEvidentHeader, looksLikeHeader, type TableCell, tableRows } from '../table-rows.ts'
import { headingLabel } from './heading-label.ts'
import { type HtmlElement, headingText, textOf } from './html-node.ts'

/** Returns whether a table is only used for layout: it contains other tables, headings, or a single cell of text. */
export function isLayout(table: HtmlElement): boolean {
  if (table.querySelector('table, h1, h2, h3, h4, h5, h6')) return true
  const cells = [...table.querySelectorAll('td, th')]
  return cells.length === 1 && table.querySelector('p, ul, ol, pre, dl') !== null
}

/**
 * Returns the parts of a note that is laid out as a table: its label, beside or above the text, and the cell with the
 * text. Returns null for other tables.
 */
export function noteOf(table: HtmlElement): { label: string; body: HtmlElement } | null {
  const filled = [...table.querySelectorAll('td, th')].filter((cell) => textOf(cell) !== '')
  const [name, body, ...others] = filled
  const label = name && body && others.length === 0 ? headingLabel(headingText(name)) : null
  return body && label !== null ? { label, body } : null
}

/** Returns the rows of a table as lines of text. */
export function rowsOf(table: HtmlElement): string[] {
  const rows = [...table.querySelectorAll('tr')]
    .map((row) => [...row.children].filter((cell) => /^t[dh]$/i.test(cell.tagName)))
    .filter((row) => row.length > 0)
  const grid = gridOf(rows.map((row) => row.map(cellOf)))
  const named = rows.every(
    ([name, value, ...more]) => name && value && more.length === 0 && isName(name) && !isName(value),
  )
  if (named) return grid.map(([name, value]) => `${name}: ${value}`)
  const headerRows = headerRowsOf(rows, grid)
  if (headerRows > 0) return tableRows(grid, headerRows)
  // A cell that spans several columns is written only once, even without column names.
  return tableRows(gridOf(rows.map((row) => row.map((cell) => ({ ...cellOf(cell), columns: 1 })))), 0)
}

function cellOf(cell: HtmlElement): TableCell {
  return { text: textOf(cell), columns: spanOf(cell, 'colspan'), rows: spanOf(cell, 'rowspan') }
}

const spanOf = (cell: HtmlElement, name: string): number => Math.max(1, Number(cell.getAttribute(name)) || 1)

const isName = (cell: HtmlElement): boolean => /^th$/i.test(cell.tagName)

/**
 * Counts the header rows at the top: rows marked up as headers, or one row that reads like column names and is in bold or
 * unlike the rows below. Most Word files mark up no headers.
 */
function headerRowsOf(rows: readonly HtmlElement[][], grid: readonly string[][]): number {
  const isMarked = (row: HtmlElement[]): boolean => row.every(isName) || Boolean(row[0]?.closest('thead'))
  const marked = rows.findIndex((row) => !isMarked(row))
  if (marked > 0) return marked
  if (marked < 0) return 1
  const isBold = rows[0]?.every(
    (cell) => textOf(cell) === [...cell.querySelectorAll('strong, b')].map(textOf).join(' '),
  )
  return (isBold && looksLikeHeader(grid[0] ?? [])) || hasEvidentHeader(grid) ? 1 : 0
}
