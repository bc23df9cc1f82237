import { inline, type Links } from './inline.ts'

const MOST_COLUMNS = 50

/** The cells of a row: a bar behind a backslash belongs to its cell. */
const cellsOf = (line: string): string[] =>
  line
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'))

export function isTableHead(line: string, next: string | undefined): boolean {
  if (next === undefined || !line.includes('|') || !/^[\s|:-]+$/.test(next) || !next.includes('-'))
    return false
  const marks = cellsOf(next)
  return (
    marks.length <= MOST_COLUMNS &&
    marks.length === cellsOf(line).length &&
    marks.every((mark) => /^:?-+:?$/.test(mark))
  )
}

/** The table that begins with the first of the lines. */
export function table(lines: string[], links: Links): { html: string; lines: number } {
  const width = cellsOf(lines[0] ?? '').length
  let end = 2
  while (end < lines.length && lines[end]?.trim() !== '' && lines[end]?.includes('|')) end++
  const row = (line: string, tag: string): string => {
    const cells = cellsOf(line)
    const html = Array.from(
      { length: width },
      (_, at) => `<${tag}>${inline(cells[at] ?? '', links)}</${tag}>`,
    )
    return `<tr>${html.join('')}</tr>`
  }
  const rows = lines.slice(2, end).map((line) => row(line, 'td'))
  const body = rows.length > 0 ? `<tbody>${rows.join('')}</tbody>` : ''
  return { html: `<table><thead>${row(lines[0] ?? '', 'th')}</thead>${body}</table>`, lines: end }
}
