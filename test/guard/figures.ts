import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** What a part of the guard has found. */
export type Section = {
  figures: Record<string, string | number>
  /** The hard rules that did not hold. */
  broken: string[]
  /** What happened to the people whom a rule concerns, to find the cause. */
  stories: string[]
}

const ABOUT = `# The guard

\`npm run guard\` examines the service from outside, under faults; \`-- --column NAME\` adds a column. What must stay zero:
lost, doubled, keys that named another message or answer, second replies, undeclared 5xx, leaks and changed rows.
`

type Columns = Record<string, Record<string, string | number>>

const results = join(import.meta.dirname, '../../bench/results')
const jsonFile = join(results, 'guard.json')

/** Adds a column, or replaces the figures of it that were measured again, and writes the table anew. */
export function writeColumn(name: string, figures: Section['figures']): void {
  const columns: Columns = existsSync(jsonFile) ? JSON.parse(readFileSync(jsonFile, 'utf8')) : {}
  columns[name] = { ...columns[name], ...figures }
  writeFileSync(jsonFile, `${JSON.stringify(columns, null, 2)}\n`)
  writeFileSync(join(results, 'guard.md'), `${ABOUT}\n${tableOf(columns)}\n`)
}

/** Returns a Markdown table with one row for each figure and one column for each run. */
export function tableOf(columns: Columns): string {
  const names = Object.keys(columns)
  const figures = [...new Set(Object.values(columns).flatMap((column) => Object.keys(column)))]
  const line = (cells: (string | number)[]): string => `| ${cells.join(' | ')} |`
  return [
    line(['figure', ...names]),
    line(['-', ...names.map(() => '-')]),
    ...figures.map((figure) => line([figure, ...names.map((name) => columns[name]?.[figure] ?? '')])),
  ].join('\n')
}
