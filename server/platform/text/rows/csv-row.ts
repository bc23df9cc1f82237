/** Returns a row of a CSV file. A cell that a spreadsheet might take for a formula begins with an apostrophe. */
export const csvRow = (cells: readonly (string | number | null | undefined)[]): string =>
  `${cells.map(cellOf).join(',')}\r\n`

function cellOf(value: string | number | null | undefined): string {
  const text = String(value ?? '')
  const safe = typeof value === 'string' && mayBeFormula(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/**
 * Spreadsheets ignore invisible characters before a sign, and read full-width and small forms of a sign as the sign. A
 * control character at the beginning is never part of a text that people write.
 */
const mayBeFormula = (text: string): boolean =>
  /^(?:\p{Cc}|[\p{White_Space}\p{Default_Ignorable_Code_Point}\p{C}\p{M}]*[=+\-@])/u.test(
    text.normalize('NFKC'),
  )

/** Returns the text of a cell as it was before `csvRow` protected it. */
export const textOfCell = (cell: string): string =>
  cell.startsWith("'") && mayBeFormula(cell.slice(1)) ? cell.slice(1) : cell
