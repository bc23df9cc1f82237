/** A row of a CSV file. A cell that a spreadsheet would take for a formula gets an apostrophe before it. */
export const csvRow = (cells: readonly (string | number | null | undefined)[]): string =>
  `${cells.map(cellOf).join(',')}\r\n`

function cellOf(value: string | number | null | undefined): string {
  const text = String(value ?? '')
  const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
