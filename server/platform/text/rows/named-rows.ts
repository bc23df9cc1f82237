/** The values of a row by the names of their columns, in order. The first value may have no name. */
type Row = { name: string; value: string }[]

const NAMED = /^([^:;|]{1,80}): (.*)$/s
const NEXT_NAME = /; (?=[^:;|]{1,80}: )/
const ITEM = /^\s*(?:[-*+•‣▪—–]|\d{1,3}[.)])\s/
const MAX_COLUMNS = 20
/** The share of a table's cells that must be filled; with less, the lines only look like rows. */
const FILLED = 0.6

/**
 * Returns lines as one table in Markdown; null when they are not the rows of a table. Passages hold each row of a
 * table as a line, `Name: value; Name: value`, so that a row can be found by itself. The rows of one table share
 * their column names.
 */
function tableOf(lines: readonly string[]): string | null {
  if (lines.length < 2 || lines.some((line) => ITEM.test(line))) return null
  const rows = lines.map(rowOf)
  if (!rows.every((row) => row !== null)) return null
  const names = columnsOf(rows)
  const cells = rows.reduce((sum, row) => sum + row.length, 0)
  if (names.length < 2 || names.length > MAX_COLUMNS || cells < names.length * rows.length * FILLED)
    return null
  const valuesOf = (row: Row): string[] =>
    names.map((name) => row.find((cell) => cell.name === name)?.value ?? '')
  return markdownTable(names, rows.map(valuesOf))
}

function markdownTable(names: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (values: readonly string[]): string =>
    `| ${values.map((value) => value.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(names), line(names.map(() => '-')), ...rows.map(line)].join('\n')
}

/**
 * Returns the rows of a table with a column of questions and, next to it, one of answers; null for other lines. `called`
 * is the name of the column of answers, and `more` are the other cells.
 */
export function questionRows(
  lines: readonly string[],
): { question: string; answer: string; called: string; more: string }[] | null {
  const [head = ''] = lines
  const isSmall = head.split('; ').length <= MAX_COLUMNS
  if (!isSmall || !head.match(/[?？؟]/) || tableOf(lines) === null) return null
  const rows = lines.map((line) => rowOf(line) ?? [])
  const names = new Set(rows.map((row) => row.find(({ value }) => ASKS.test(value))?.name))
  const [name] = names
  if (names.size !== 1 || name === undefined) return null
  const pairs = rows.map((row) => {
    const at = row.findIndex((cell) => cell.name === name)
    const others = row.filter((_, place) => place !== at && place !== at + 1)
    const more = others.map((cell) => (cell.name ? `${cell.name}: ${cell.value}` : cell.value)).join('; ')
    const { name: called = '', value: answer = '' } = row[at + 1] ?? {}
    return { question: row[at]?.value ?? '', answer, called, more }
  })
  return pairs.every(({ answer }) => answer !== '') ? pairs : null
}

const ASKS = /[?？؟]$/

/** Tells whether lines are the rows of one table. */
export const areRows = (lines: readonly string[]): boolean => tableOf(lines) !== null

/** Returns a text with its table rows written as Markdown tables. */
export function withTables(text: string): string {
  if (!text.includes('; ')) return text
  return text
    .split('\n\n')
    .map((block) => tableOf(block.split('\n')) ?? block)
    .join('\n\n')
}

/**
 * Parses a line as a row; null when it is none. The text before ` | ` is the heading of a group of rows. Its column
 * has no name, and neither has that of a first value without one.
 */
function rowOf(line: string): Row | null {
  const [group = '', ...rest] = line.split(' | ')
  const isGrouped = rest.length > 0 && !NAMED.test(group)
  const [first = '', ...others] = (isGrouped ? rest.join(' | ') : line).split(NEXT_NAME)
  const start = cellOf(first)
  if (isGrouped && start === null) return null
  const cells = [...(isGrouped ? [{ name: '', value: group }] : []), start ?? { name: '', value: first }]
  for (const other of others) {
    const cell = cellOf(other)
    // A name that occurs again is part of the value before it.
    const last = cells.at(-1)
    if (last && (cell === null || cells.some(({ name }) => name === cell.name))) last.value += `; ${other}`
    else if (cell) cells.push(cell)
  }
  return cells.some(({ name }) => name !== '') ? cells : null
}

function cellOf(text: string): Row[number] | null {
  const [, name, value] = NAMED.exec(text) ?? []
  return name === undefined || value === undefined ? null : { name, value }
}

/**
 * Returns the names of all columns in order. A name that is new in a row is inserted after the name that precedes it
 * there.
 */
function columnsOf(rows: readonly Row[]): string[] {
  const names: string[] = []
  for (const row of rows) {
    let after = 0
    for (const { name } of row) {
      const known = names.indexOf(name)
      if (known < 0) names.splice(after, 0, name)
      after = (known < 0 ? after : known) + 1
    }
  }
  return names
}
