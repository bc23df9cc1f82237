import papaparse from 'papaparse'
import type { Static } from 'typebox'
import { storable } from '../../../../platform/http/bodies/storable.ts'
import { bodyValidator } from '../../../../platform/http/input/validate.ts'
import { csvRow, textOfCell } from '../../../../platform/text/rows/csv-row.ts'
import { messageOf } from '../../../../platform/unknown-values.ts'
import { AddedAnswerCase } from '../schema.ts'
import { MAX_CASES } from './cases.ts'

type Case = Static<typeof AddedAnswerCase>
type CaseFormat = 'json' | 'csv'

/** What is wrong with a file, as a sentence. */
export class BadCaseFile extends Error {}

const validate = bodyValidator(AddedAnswerCase)

/** In characters. More fits into JSON, which is read faster. */
const MAX_TABLE = 1_000_000
const MAX_COLUMNS = 50
const TOO_MANY = `An agent has at most ${MAX_CASES} cases, and the file has more.`

/** Reads cases: a list in JSON, or a table with a row for each case. Throws BadCaseFile for the first mistake. */
export function readCases(text: string, format: CaseFormat): Case[] {
  const listed: unknown = format === 'csv' ? casesOfTable(text) : parsed(text)
  if (!Array.isArray(listed)) throw new BadCaseFile('The file is no list of cases.')
  if (listed.length > MAX_CASES) throw new BadCaseFile(TOO_MANY)
  return listed.map((one: unknown, at) => {
    const [problem] = Object.entries(validate(one))
    if (problem) throw new BadCaseFile(`Case ${at + 1}: ${problem.join(': ')}`)
    return one as Case
  })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new BadCaseFile(`The file is not JSON: ${storable(messageOf(error))}`)
  }
}

const LISTS = ['holds', 'lacks', 'cites', 'calls'] as const
const ANSWERS = ['declines', 'handsOver', 'reachesGoal'] as const
const TEXTS = ['means', 'sounds'] as const
const CUSTOMER = ['persona', 'goal', 'temper'] as const
const COLUMNS = [
  'name',
  'messages',
  'channel',
  ...LISTS,
  ...ANSWERS,
  ...TEXTS,
  ...CUSTOMER,
  'maxMessages',
  'results',
  'conversationId',
]

/** Returns the rows of a table below the one with the names of its columns. No more is read than an agent may have. */
function rowsOf(text: string): Record<string, string>[] {
  if (text.length > MAX_TABLE)
    throw new BadCaseFile('A table has at most 1 MB. Divide it, or write the cases as JSON.')
  // The names of columns contain no separator.
  const delimiter = /^[^\r\n]*?([,;\t])/.exec(text)?.[1] ?? ','
  // With the names, and the empty row after the last line.
  const preview = MAX_CASES + 3
  const { data, meta } = papaparse.parse<string[]>(text, { delimiter, preview, skipEmptyLines: 'greedy' })
  const [names = [], ...rows] = data
  if (names.length > MAX_COLUMNS) throw new BadCaseFile(`A table has at most ${MAX_COLUMNS} columns.`)
  if (meta.truncated) throw new BadCaseFile(TOO_MANY)
  return rows.map((row) => Object.fromEntries(names.map((name, at) => [name.trim(), row[at] ?? ''])))
}

/** Several texts stand in one cell, a line each, or as a list in JSON if one of them has lines itself. */
function casesOfTable(text: string): unknown[] {
  return rowsOf(text).map((row, at) => {
    const cell = (name: string): string => textOfCell(row[name] ?? '').trim()
    const given = <T>(names: readonly string[], read: (text: string) => T) =>
      Object.fromEntries(names.flatMap((name) => (cell(name) === '' ? [] : [[name, read(cell(name))]])))
    const messages = linesOf(cell('messages') || cell('message') || cell('question'))
    const customer = given([...CUSTOMER], (said) => said)
    return {
      name: cell('name') || beginningOf(messages[0] ?? cell('goal')),
      messages,
      ...given(['channel', 'conversationId'], (said) => said),
      ...(Object.keys(customer).length > 0
        ? { customer: { ...customer, ...given(['maxMessages'], Number) } }
        : {}),
      ...given(['results'], (said) => resultsIn(said, at)),
      expect: {
        ...given(LISTS, linesOf),
        ...given(ANSWERS, booleanOf),
        ...given(TEXTS, (said) => said),
      },
    }
  })
}

/** Returns the beginning of a text as a name, without half of a character at its end. */
const beginningOf = (text: string): string => text.slice(0, 200).replace(/[\ud800-\udbff]$/, '')

function linesOf(cell: string): string[] {
  if (cell.startsWith('[')) {
    try {
      const list: unknown = JSON.parse(cell)
      if (Array.isArray(list)) return list.map(String)
    } catch {
      // A text may begin with a bracket.
    }
  }
  return cell
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
}

function booleanOf(cell: string): unknown {
  const said = cell.toLowerCase()
  return said === 'true' ? true : said === 'false' ? false : cell
}

function resultsIn(cell: string, at: number): unknown {
  try {
    return JSON.parse(cell)
  } catch {
    throw new BadCaseFile(`Case ${at + 1}: results: Must be an object in JSON.`)
  }
}

/** Returns cases as `readCases` reads them. */
export function writeCases(cases: readonly Case[], format: CaseFormat): string {
  if (format === 'json') return `${JSON.stringify(cases, null, 2)}\n`
  const rows = cases.map((one) => {
    const all: Record<string, unknown> = { ...one, ...one.expect, ...one.customer }
    return csvRow(COLUMNS.map((name) => cellOf(name, all[name])))
  })
  return csvRow(COLUMNS) + rows.join('')
}

function cellOf(name: string, value: unknown): string {
  if (value === undefined || value === null) return ''
  if (name === 'results') return JSON.stringify(value)
  if (!Array.isArray(value)) return String(value)
  const hasLines = value.some((text: string) => text.includes('\n') || text !== text.trim())
  return hasLines ? JSON.stringify(value) : value.join('\n')
}
