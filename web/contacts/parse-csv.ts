/** Parses a CSV file. The cells are separated by commas, semicolons or tabs, whichever its first line has most of. */
export function parseCsv(text: string): string[][] {
  const plain = text.replace(/^\uFEFF/, '')
  const firstLine = plain.slice(0, plain.search(/\r|\n|$/))
  const separator = [',', ';', '\t'].toSorted(
    (a, b) => firstLine.split(b).length - firstLine.split(a).length,
  )[0]
  const rows: string[][] = []
  let row: string[] = []
  let cell = ''
  let isQuoted = false
  const endRow = (): void => {
    row.push(cell)
    if (row.some((value) => value.trim() !== '')) rows.push(row)
    row = []
    cell = ''
  }
  for (let at = 0; at < plain.length; at++) {
    const sign = plain.charAt(at)
    if (isQuoted) {
      if (sign !== '"') cell += sign
      else if (plain[at + 1] === '"') cell += plain[++at]
      else isQuoted = false
    } else if (sign === '"' && cell === '') isQuoted = true
    else if (sign === separator) {
      row.push(cell)
      cell = ''
    } else if (sign === '\n' || sign === '\r') {
      if (sign === '\r' && plain[at + 1] === '\n') at++
      endRow()
    } else cell += sign
  }
  endRow()
  return rows
}
