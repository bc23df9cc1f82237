/** A cell with the columns and rows that it spans. */
export type TableCell = { text: string; columns?: number; rows?: number }

// The most columns, because a document may claim any span.
const MAX_COLUMNS = 100

/**
 * Returns a grid in which each cell is repeated in every place that it spans. A row of a single cell over the whole
 * width has only that cell.
 */
export function gridOf(rows: readonly (readonly TableCell[])[]): string[][] {
  const grid: string[][] = rows.map(() => [])
  for (const [at, row] of rows.entries()) {
    const own = grid[at] ?? []
    let column = 0
    for (const { text, columns = 1, rows: down = 1 } of row) {
      while (own[column] !== undefined) column += 1
      const right = Math.min(column + Math.max(columns, 1), MAX_COLUMNS)
      const below = Math.min(at + Math.max(down, 1), grid.length)
      for (const line of grid.slice(at, below)) for (let x = column; x < right; x += 1) line[x] ??= text
      if (column >= MAX_COLUMNS) break
    }
  }
  const width = grid.reduce((most, row) => Math.max(most, row.length), 0)
  return grid.map((row, at) => {
    const [first, ...others] = rows[at] ?? []
    const isWhole = first && others.length === 0 && (first.columns ?? 1) >= width && width > 1
    return isWhole ? [first.text] : Array.from(row, (cell) => cell ?? '')
  })
}

/**
 * Turns table cells into one line per row: `Header: value; Header: value` when there are `headerRows`, `value | value`
 * otherwise. Empty values and empty rows are omitted; the names of columns without any value are a line of their own. A row with a single cell is the heading of the rows below it and
 * is repeated in each of them.
 */
export function tableRows(rows: readonly (readonly string[])[], headerRows: number): string[] {
  const cells = rows.map((row) => row.map((cell) => cell.replace(/\s+/g, ' ').trim()))
  const isNamed = headerRows > 0 && cells.length > headerRows
  const header = isNamed ? namesOf(cells.slice(0, headerRows)) : []
  const unused = header.filter((_, column) => !cells.slice(headerRows).some((row) => row[column]))
  const lines = unused.some(Boolean) ? [unused.filter(Boolean).join(' | ')] : []
  let group: string | null = null
  let isGroupUsed = true
  for (const row of isNamed ? cells.slice(headerRows) : cells) {
    const [only = '', ...others] = row
    if (header.length > 1 && others.length === 0 && only !== '') {
      if (group !== null && !isGroupUsed) lines.push(group)
      group = only
      isGroupUsed = false
      continue
    }
    const line = isNamed ? namedValues(header, row) : row.filter(Boolean).join(' | ')
    if (line === '') continue
    lines.push(group === null ? line : `${group} | ${line}`)
    isGroupUsed = true
  }
  if (group !== null && !isGroupUsed) lines.push(group)
  return lines
}

/** Returns a name for each column: the distinct texts above it in all header rows. */
function namesOf(headers: readonly (readonly string[])[]): string[] {
  const width = Math.max(...headers.map((row) => row.length))
  return Array.from({ length: width }, (_, column) =>
    [...new Set(headers.map((row) => row[column] ?? '').filter(Boolean))].join(' '),
  )
}

/** Returns each value after the name of its column. */
function namedValues(header: readonly string[], row: readonly string[]): string {
  return row
    .flatMap((cell, column) => {
      if (cell === '') return []
      const name = header[column]
      return [name ? `${name.replace(/:$/, '')}: ${cell}` : cell]
    })
    .join('; ')
}

/** Returns whether the first row of a table looks like a header: filled and distinct, and without plain numbers. */
export function looksLikeHeader(row: readonly string[]): boolean {
  const names = row.map((cell) => cell.trim())
  return (
    names.length > 1 &&
    new Set(names).size === names.length &&
    names.every((name) => name !== '' && name.length <= 80 && !/^[\d\s.,:%€$£+-]+$/.test(name))
  )
}

/** How many times wider than its name the cells of a column of texts are, and at least, in Latin letters. */
const WIDER = 2.5
const MIN_LETTERS = 15

/**
 * Returns whether the first row of a table without markup names the columns. Two columns are as often a list of terms
 * whose first row is one like the others, so their header must differ from the rows below: it names numbers, or texts
 * that are much longer than the name.
 */
export function hasHeader(rows: readonly (readonly string[])[]): boolean {
  const [first = [], ...rest] = rows
  if (!looksLikeHeader(first)) return false
  if (first.length > 2) return true
  const namesNumbers = !first.some(hasDigit) && rest.every((row) => hasDigit(row[1]))
  return rest.length > 0 && (namesNumbers || namesTexts(first, rest))
}

const hasDigit = (cell = ''): boolean => /\d/.test(cell)

/**
 * Returns the same for web pages and Word files, whose unmarked first rows are more often data: the first row must differ
 * from all others, which have numbers or much longer texts below its words. The corner above the names of the rows may
 * be empty. In a table of two columns, which is more often a list of terms, there must be numbers below the first name.
 */
export function hasEvidentHeader(rows: readonly (readonly string[])[]): boolean {
  const [first = [], ...rest] = rows
  const names = first[0]?.trim() === '' ? first.slice(1) : first
  if (rest.length < 2 || !looksLikeHeader(names) || first.some(hasDigit) || names.some(isValue)) return false
  const isNumbers = (column: number): boolean => rest.every((row) => hasDigit(row[column]))
  return first.length > 2
    ? first.some((_, column) => isNumbers(column)) || namesTexts(first, rest)
    : isNumbers(0)
}

/** Words that are values in a row, such as "free" and "closed", and name no column. */
const VALUES = new Set(
  'free gratis frei kostenlos gratuit libre grátis gratuito bezpłatnie бесплатно ücretsiz 免费 無料 무료 مجاناً مجانا closed geschlossen fermé cerrado chiuso fechado gesloten nieczynne закрыто kapalı stängt 休 定休日 휴무 مغلق yes no ja nein oui non sí si sim não nee tak nie да нет evet hayır nej はい いいえ 예 아니요 نعم لا none keine included inklusive inclus incluido incluso incluído inbegrepen'.split(
    ' ',
  ),
)

let weekdays: ReadonlySet<string> | undefined

/** Formatting the names takes about 50 ms, so this is done when they are first needed. */
function isWeekday(text: string): boolean {
  weekdays ??= new Set(
    'en de fr es it pt nl pl ru tr sv ja zh ko ar'.split(' ').flatMap((language) =>
      (['long', 'short'] as const).flatMap((weekday) => {
        const format = new Intl.DateTimeFormat(language, { weekday, timeZone: 'UTC' })
        return Array.from({ length: 7 }, (_, day) =>
          format.format(new Date(Date.UTC(2024, 0, day + 1))).toLowerCase(),
        )
      }),
    ),
  )
  return weekdays.has(text)
}

/** Returns whether a cell is a value rather than the name of a column. */
function isValue(cell: string): boolean {
  const text = cell.trim().toLowerCase()
  return !/\p{L}/u.test(text) || VALUES.has(text) || isWeekday(text)
}

/** Returns whether any column has texts much longer than its name. */
const namesTexts = (names: readonly string[], rows: readonly (readonly string[])[]): boolean =>
  names.some((name, column) => medianWidth(rows, column) >= Math.max(widthOf(name) * WIDER, MIN_LETTERS))

function medianWidth(rows: readonly (readonly string[])[], column: number): number {
  const widths = rows.map((row) => widthOf(row[column] ?? '')).sort((a, b) => a - b)
  return widths[Math.floor(widths.length / 2)] ?? 0
}

/** Chinese characters, kana and syllables of Hangul say as much as two letters. */
export const widthOf = (text: string): number =>
  text.trim().replace(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu, '--')
    .length
