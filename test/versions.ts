import { execFileSync, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import type { AccountId } from '../server/platform/db/tables/columns.ts'
import { keptFolder } from './memory-folder.ts'
import type { Home } from './spawn-service.ts'

const root = resolve(import.meta.dirname, '..')

/** The version from which installations are upgraded in tests: a commit with the migrations up to 0076. */
const FORMER = '4fec835d'

/** Why the former version cannot be run here, or false if it can. */
export const noFormerVersion: string | false =
  spawnSync('git', ['cat-file', '-e', `${FORMER}^{commit}`], { cwd: root }).status !== 0 &&
  `Commit ${FORMER} is not in this clone: fetch its history (git fetch --unshallow).`

/** What a program needs in addition to its packages. */
const PARTS = [
  'server',
  'client',
  'widget',
  'web',
  'docs/guide',
  'docs/operations',
  'docs/openapi.json',
  'package.json',
]

/**
 * Two migrations that belong to no version: one needs the lock of a busy table, and the other builds an index of it.
 */
const ADDED = {
  '9990_added_column.sql': `-- compatible_from: 0076\nalter table messages add column added_note text;\n`,
  '9991_added_index.sql':
    '-- compatible_from: 0076\ncreate index concurrently messages_added_note on messages (added_note);\n',
}

export type Versions = {
  /** The folder of the program of the former version. */
  former: string
  /** The folder of the present program with migrations of its own, so that there is always something to upgrade. */
  present: string
  remove(): void
}

function unpackFormer(parts: string[], folder: string): void {
  const archive = execFileSync('git', ['archive', FORMER, ...parts], { cwd: root, maxBuffer: 2 ** 29 })
  execFileSync('tar', ['-x', '-C', folder], { input: archive })
}

/** Returns the folder of the packages of the former version, which are installed once for all tests of this machine. */
function formerPackages(): string {
  const kept = join(keptFolder(), `parley-packages-${FORMER}`)
  if (!existsSync(kept)) {
    const made = mkdtempSync(join(keptFolder(), 'parley-packages-'))
    unpackFormer(['package.json', 'package-lock.json', '.npmrc'], made)
    execFileSync('npm', ['ci', '--omit=dev', '--ignore-scripts', '--prefer-offline'], { cwd: made })
    try {
      renameSync(made, kept)
    } catch {
      // Tests that run at the same time have installed them meanwhile.
      rmSync(made, { recursive: true, force: true })
    }
  }
  return join(kept, 'node_modules')
}

export function unpackVersions(): Versions {
  const folder = mkdtempSync(join(tmpdir(), 'parley-versions-'))
  const [former, present] = ['former', 'present'].map((name) => join(folder, name)) as [string, string]
  for (const [version, packages] of [
    [former, formerPackages()],
    [present, join(root, 'node_modules')],
  ] as const) {
    mkdirSync(version)
    symlinkSync(packages, join(version, 'node_modules'))
  }
  unpackFormer(PARTS, former)
  for (const part of PARTS)
    cpSync(join(root, part), join(present, part), {
      recursive: true,
      filter: (source) => !['node_modules', 'dist'].includes(basename(source)),
    })
  for (const [name, text] of Object.entries(ADDED))
    writeFileSync(join(present, 'server/platform/db/migrations', name), text)
  return { former, present, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

type Filled = { accountId: AccountId; agentId: string; keys: string[] }

const KEYS = 32

/** Has the former version make its tables, with an account, an agent and some keys. */
export function fillWithFormer({ former }: Versions, { env, folder }: Home): Filled {
  const url = env.DATABASE_URL ?? null
  const program = `
    import { createKey } from './server/accounts/keys/keys.ts'
    import { createAccount } from './server/accounts/records/accounts.ts'
    import { createAgent } from './server/agents/records/create-agent.ts'
    import { openEmbedded, openPostgres } from './server/db/database.ts'
    import { migrate } from './server/db/upkeep/migrate.ts'
    const { db, close } = ${url ? `openPostgres(${JSON.stringify(url)}, 2)` : `await openEmbedded(${JSON.stringify(folder)})`}
    await migrate(db)
    const accountId = await createAccount(db, 'Former', 'unlimited')
    const agentId = await createAgent(db, { id: accountId, plan: 'unlimited' }, 'test', { name: 'Former' })
    const keys = []
    for (let i = 0; i < ${KEYS}; i++) keys.push((await createKey(db, accountId, { name: 'k' + i })).key)
    await close()
    process.stdout.write(JSON.stringify({ accountId, agentId, keys }))`
  const output = execFileSync(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: former,
    encoding: 'utf8',
  })
  return JSON.parse(output) as Filled
}
