import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const relativeImport = /\b(?:from|import)\s*\(?\s*'(\.{1,2}\/[^']+\.ts)'/g
/** The variable that names the database under test. */
const VARIABLE = 'TEST_DATABASE_URL'

/** What is known of the files that were read. */
const known = new Map<string, boolean>()

/**
 * Returns whether a file, or one that it imports, looks at the address of the database under test. A test that does not
 * behaves the same on every database.
 */
export function opensDatabase(file: string): boolean {
  const before = known.get(file)
  if (before !== undefined) return before
  // Until it is known, files that import each other do not count for each other.
  known.set(file, false)
  const source = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const opens =
    source.includes(VARIABLE) ||
    [...source.matchAll(relativeImport)].some(([, path]) => opensDatabase(join(dirname(file), path!)))
  known.set(file, opens)
  return opens
}
