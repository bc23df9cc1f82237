import { relative, resolve } from 'node:path'
import { statementSent } from '../server/platform/db/statements/statement-sent.ts'
import { WITHOUT_ACCOUNT } from './statements-without-account.ts'
import { tablesWithoutAccount } from './tables-without-account.ts'

const root = resolve(import.meta.dirname, '..')
/** The layers of the database between a statement and the code that it belongs to. */
const BELOW = /node_modules|^server\/platform\/db\/(connections|statements)\/|^test\/watch-statements\.ts/

/** The tables without an account of each text that was sent. */
const known = new Map<string, readonly string[]>()
const faults = new Map<string, string>()

/**
 * Examines every statement that this process sends from now on. Statements of tests are not examined. The caller of
 * `takeFaults` learns which of the others neither name the account nor are excepted.
 */
export function watchStatements(): void {
  if (!statementSent.hasSubscribers) statementSent.subscribe((text) => examine(text as string))
}

function examine(text: string): void {
  let tables = known.get(text)
  if (!tables) {
    tables = tablesWithoutAccount(text)
    known.set(text, tables)
  }
  if (tables.length === 0) return
  const file = senderOf()
  if (!file.startsWith('server/') || /(\.test|\/for-tests)\.ts$/.test(file)) return
  const left = tables.filter((table) => !isExcepted(file, table))
  if (left.length > 0)
    faults.set(
      `${file} ${left}`,
      `${file} does not name the account of ${left.join(', ')}: ${text.slice(0, 2_000)}`,
    )
}

function isExcepted(sender: string, table: string): boolean {
  const tables = WITHOUT_ACCOUNT[sender]?.tables ?? []
  return tables === 'all' || tables.includes(table)
}

/** Returns the file that sent the statement, from the stack of the calls that wait for it. */
function senderOf(): string {
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = 50
  const { stack = '' } = new Error()
  Error.stackTraceLimit = limit
  const files = [...stack.matchAll(/file:\/\/(\/[^:)]+):/g)].map(([, path]) => relative(root, path ?? ''))
  return files.find((file) => !file.startsWith('..') && !BELOW.test(file)) ?? ''
}

/** Returns what was found since the last call. */
export function takeFaults(): string[] {
  const found = [...faults.values()]
  faults.clear()
  return found
}
