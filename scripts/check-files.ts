import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, resolve } from 'node:path'

/**
 * `node scripts/check-files.ts [ROOT]` checks the following:
 * - A folder of server/ has at most sixteen entries. If it is a feature with a contract and with folders, its root
 *   contains only `contract.ts`, `routes.ts`, `jobs.ts` and tests.
 * - Every export is imported somewhere, if only by a test.
 * - Every migration says what program it is compatible with, and builds the indexes of existing tables concurrently.
 * It reads the code as text, because the formatter gives each import and each export one form.
 */

const MAX_ENTRIES = 16
const PROGRAMS = ['server', 'client', 'widget', 'web', 'test', 'bench', 'scripts']
/** What users import or copy: the client, the types of public contracts, and the examples of the guide. */
const PUBLIC = /^client\/|^test\/(?:generated-client|pages)\/|(?:^|[/-])(?:contract|schema)\.ts$/

/** From here on, the version before an upgrade keeps running during it. */
const FIRST_ROLLING = '0077'

const root = resolve(process.argv[2] ?? join(import.meta.dirname, '..'))
const files = new Map(
  PROGRAMS.flatMap(filesIn).map((name) => [name, readFileSync(join(root, name), 'utf8')] as const),
)
const problems = [...crowded(), ...unused(), ...unsafeMigrations()]
for (const problem of problems) console.error(problem)
console.log(`${files.size} files, ${problems.length} problems`)
process.exitCode = problems.length > 0 ? 1 : 0

function filesIn(program: string): string[] {
  try {
    return readdirSync(join(root, program), { recursive: true, encoding: 'utf8' })
      .filter((name) => /(?<!\.d)\.tsx?$/.test(name) && !/(^|\/)dist\//.test(name))
      .map((name) => `${program}/${name}`)
  } catch {
    return []
  }
}

function crowded(): string[] {
  const entries = new Map<string, Set<string>>()
  for (const name of files.keys()) {
    const [program, feature, entry] = name.split('/')
    if (program !== 'server' || !feature || !entry) continue
    entries.set(feature, (entries.get(feature) ?? new Set()).add(entry))
  }
  return [...entries].flatMap(([feature, names]) => {
    const found: string[] = []
    if (names.size > MAX_ENTRIES)
      found.push(`server/${feature} has ${names.size} entries, and at most ${MAX_ENTRIES} are readable`)
    const isDivided =
      names.has('contract.ts') && feature !== 'http' && [...names].some((name) => !name.includes('.'))
    for (const name of names)
      if (isDivided && name.includes('.') && !/^(contract|routes|jobs)\.ts$|\.test\.ts$/.test(name))
        found.push(`server/${feature}/${name} belongs in one of the folders beside it`)
    return found
  })
}

function unused(): string[] {
  const used = new Map<string, Set<string>>()
  const whole = new Set<string>()
  for (const [name, text] of files) {
    const target = (specifier: string): string => normalize(join(dirname(name), specifier))
    for (const [, names = '', from = ''] of text.matchAll(
      /(?:import|export)[^;'"{}]*\{([^}]*)\} from '(\.[^']+)'/g,
    )) {
      const seen = used.get(target(from)) ?? new Set()
      for (const one of names.split(','))
        seen.add(
          one
            .trim()
            .replace(/^type /, '')
            .split(' as ')[0] ?? '',
        )
      used.set(target(from), seen)
    }
    for (const [, from = ''] of text.matchAll(/(?:\* as \w+ from|\* from|import\(|new URL\()\s*'(\.[^']+)'/g))
      whole.add(target(from))
  }
  return [...files].flatMap(([name, text]) => {
    if (whole.has(name) || PUBLIC.test(name)) return []
    const exported = text.matchAll(/^export (?:async )?(?:function\*?|const|class|type|interface) (\w+)/gm)
    return Array.from(exported, ([, one = '']) => one)
      .filter((one) => !used.get(name)?.has(one))
      .map((one) => `${name} exports ${one}, which nothing imports`)
  })
}

function unsafeMigrations(): string[] {
  const folder = join(root, 'server/platform/db/migrations')
  const names = existsSync(folder) ? readdirSync(folder) : []
  return names
    .filter((name) => name >= FIRST_ROLLING)
    .flatMap((name) => {
      const text = readFileSync(join(folder, name), 'utf8')
      const created = new Set(Array.from(text.matchAll(/^create table (\w+)/gm), ([, table]) => table))
      const plain = Array.from(
        text.matchAll(/^create (?:unique )?index \w+ on (\w+)/gm),
        ([, table]) => table,
      )
      const found = plain
        .filter((table) => !created.has(table))
        .map(
          (table) =>
            `${name} locks ${table} against writes while it builds an index: build it concurrently, in a file of its own`,
        )
      if (!/^-- compatible_from: \d{4}$/m.test(text))
        found.push(`${name} has no line "-- compatible_from: NNNN"`)
      return found.map(
        (problem) => `server/platform/db/migrations/${problem}; see docs/contributing.md, "Migrations"`,
      )
    })
}
