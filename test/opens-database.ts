import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const relativeImport = /\b(?:from|import)\s*\(?\s*'(\.{1,2}\/[^']+\.ts)'/g
/** The variable that names the database under test. */
const VARIABLE = 'TEST_DATABASE_URL'

/** What is known of the files that were read. */
const known = new Map<string, boolean>()

/**
 * Returns whether a file, or one that it imports, reads the address of the database under test. All other tests behave
 * the same on every database.
 */
export function opensDatabase(file: string): boolean {
  const before = known.get(file)
  if (before !== undefined) return before
  // This ends the recursion when files import each other.
  known.set(file, false)
  const source = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const opens =
    source.includes(VARIABLE) ||
    [...source.matchAll(relativeImport)].some(([, path]) => opensDatabase(join(dirname(file), path!)))
  known.set(file, opens)
  return opens
}
