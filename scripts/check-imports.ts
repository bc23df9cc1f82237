import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

/**
 * Imports run one way. Lower folders come first; a file may import from its own folder and from lower ones.
 * Type-only imports of the context are the one exception: routes and tasks name what they are given.
 * Cycles between files are found by the linter.
 */
const LAYERS = [
  'fairness',
  'text',
  'apart',
  'fetch',
  'db',
  'secrets',
  'http',
  'jobs',
  'models',
  'health',
  'accounts',
  'agents',
  'contacts',
  'attachments',
  'deliveries',
  'knowledge',
  'actions',
  'conversations',
  'helpdesk',
  'channels',
  'people',
  'search',
  'exports',
  'insights',
  'notifications',
  'privacy',
  'widget',
  'operations',
  'v1',
  'pages',
]
/** Files beside the folders put the application together and may import everything below server/. */
const TOP = LAYERS.length

const server = resolve(import.meta.dirname, '../server')

function layerOf(file: string): number {
  const [folder, ...rest] = relative(server, file).split('/')
  if (rest.length === 0) return TOP
  const layer = LAYERS.indexOf(folder ?? '')
  if (layer === -1) throw new Error(`server/${folder} has no place in the order of scripts/check-imports.ts.`)
  return layer
}

function upwardImports(file: string): string[] {
  const found: string[] = []
  const text = readFileSync(file, 'utf8')
  for (const [statement, kind, target] of text.matchAll(
    /^(?:import|export)\s+(type\s)?[^'"]*?from\s+'(\.[^']+)'/gm,
  )) {
    const imported = resolve(dirname(file), target ?? '')
    const isContextType = kind !== undefined && /\/server\/(context|config)\.ts$/.test(imported)
    if (!imported.startsWith(server)) found.push(`${relative(server, file)} leaves server/: ${statement}`)
    else if (!isContextType && layerOf(imported) > layerOf(file)) {
      found.push(`${relative(server, file)} imports upward: ${relative(server, imported)}`)
    }
  }
  return found
}

const files = readdirSync(server, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts') && !name.endsWith('.test.ts'))
  .map((name) => join(server, name))
const problems = files.flatMap(upwardImports)
for (const problem of problems) console.error(problem)
console.log(`${files.length} files, ${problems.length} imports against the order`)
process.exitCode = problems.length > 0 ? 1 : 0
