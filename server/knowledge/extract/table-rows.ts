/**
 * Table cells → one line per row: `Header: value; Header: value` when the first row is a header, `value | value`
 * otherwise. Empty values are left out, so are empty rows.
 */
export function tableRows(rows: string[][], hasHeader: boolean): string[] {
  const cells = rows.map((row) => row.map((cell) => cell.replace(/\s+/g, ' ').trim()))
  const [header = [], ...values] = hasHeader && cells.length > 1 ? cells : [[], ...cells]
  return values
    .map((row) =>
      header.length > 0
        ? row
            .flatMap((cell, index) => (cell ? [header[index] ? `${header[index]}: ${cell}` : cell] : []))
            .join('; ')
        : row.filter(Boolean).join(' | '),
    )
    .filter(Boolean)
}

/** Whether a first row of a table without marked headers reads like one: filled, distinct, and no bare numbers. */
export function looksLikeHeader(row: string[]): boolean {
  const names = row.map((cell) => cell.trim())
  return (
    names.length > 1 &&
    new Set(names).size === names.length &&
    names.every((name) => name !== '' && name.length <= 80 && !/^[\d\s.,:%€$£+-]+$/.test(name))
  )
}
