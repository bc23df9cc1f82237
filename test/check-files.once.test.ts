import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { after, test } from 'node:test'

const folder = mkdtempSync(join(tmpdir(), 'parley-files-'))
after(() => rmSync(folder, { recursive: true }))

/** Runs the check on a project with these files and returns the problems that it prints. */
function check(files: Record<string, string>): string[] {
  const root = mkdtempSync(join(folder, 'project-'))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), text)
  }
  const script = resolve(import.meta.dirname, '../scripts/check-files.ts')
  const { status, stderr } = spawnSync(process.execPath, [script, root], { encoding: 'utf8' })
  const problems = stderr.split('\n').filter((line) => line !== '')
  assert.equal(status, problems.length > 0 ? 1 : 0)
  return problems.sort()
}

test('misplaced files and unused exports are reported', () => {
  const many = Object.fromEntries(
    Array.from({ length: 17 }, (_, at) => [`server/actions/part-${at}.ts`, 'const part = 1']),
  )
  assert.deepEqual(
    check({
      ...many,
      'server/agents/contract.ts': 'export const readAgent = 1',
      'server/agents/helper.ts': 'const help = 1',
      'server/agents/agents.test.ts': `import { used } from './records/agent.ts'`,
      'server/agents/records/agent.ts':
        'export const used = 1\nexport function left() {}\nexport type Left = 1',
    }),
    [
      'server/actions has 17 entries, and at most 16 are readable',
      'server/agents/helper.ts belongs in one of the folders beside it',
      'server/agents/records/agent.ts exports Left, which nothing imports',
      'server/agents/records/agent.ts exports left, which nothing imports',
    ],
  )
})

test('exports are used by named, whole and dynamic imports, and those of contracts are public', () => {
  const text = 'export const one = 1'
  assert.deepEqual(
    check({
      'server/actions/named.ts': text,
      'server/actions/whole.ts': text,
      'server/actions/later.ts': text,
      'server/actions/again.ts': text,
      'server/v1/contract.ts': text,
      'server/main.ts': `import {\n  one,\n} from './actions/named.ts'\nimport * as whole from './actions/whole.ts'\nawait import('./actions/later.ts')\nexport { one as two } from './actions/again.ts'`,
    }),
    [],
  )
})

test('migrations that would stop a former version are reported', () => {
  const folder = 'server/platform/db/migrations'
  const help = 'see docs/contributing.md, "Migrations"'
  const index = 'create index one_id on one (id);'
  assert.deepEqual(
    check({
      [`${folder}/0076_before.sql`]: index,
      [`${folder}/0080_new_table.sql`]: `-- compatible_from: 0076\ncreate table one (id integer);\n${index}`,
      [`${folder}/0081_index.sql`]: '-- compatible_from: 0076\ncreate index concurrently one_id on one (id);',
      [`${folder}/0082_plain_index.sql`]: `-- Why.\n-- compatible_from: 0076\n${index}`,
      [`${folder}/0083_silent.sql`]: '-- compatible_from: all\nalter table one add note text;',
    }),
    [
      `${folder}/0082_plain_index.sql locks one against writes while it builds an index: build it concurrently, in a file of its own; ${help}`,
      `${folder}/0083_silent.sql has no line "-- compatible_from: NNNN"; ${help}`,
    ],
  )
})
