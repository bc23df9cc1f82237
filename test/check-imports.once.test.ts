import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { after, test } from 'node:test'

const folder = mkdtempSync(join(tmpdir(), 'parley-imports-'))
after(() => rmSync(folder, { recursive: true }))

/** Runs the check on a project with these files and returns its result. */
function check(files: Record<string, string>): { status: number | null; problems: string[] } {
  const root = mkdtempSync(join(folder, 'project-'))
  const config = {
    compilerOptions: { noEmit: true, allowImportingTsExtensions: true, module: 'nodenext', types: [] },
  }
  for (const [name, text] of Object.entries({ ...files, 'tsconfig.json': JSON.stringify(config) })) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), text)
  }
  const script = resolve(import.meta.dirname, '../scripts/check-imports.ts')
  const { status, stderr } = spawnSync(process.execPath, [script, root], { encoding: 'utf8' })
  return {
    status,
    problems: stderr
      .split('\n')
      .filter((line) => line !== '')
      .sort(),
  }
}

test('violations are reported for every kind of import', () => {
  const { status, problems } = check({
    'server/accounts/words.ts': `import type { Agent } from '../agents/agent.ts'\nexport type Words = Agent`,
    'server/agents/agent.ts': 'export type Agent = string\nexport const agent = 1',
    'server/accounts/effect.ts': `import '../agents/agent.ts'`,
    'server/accounts/dynamic.ts': `export const later = () => import('../agents/agent.ts')`,
    'server/accounts/again.ts': `export * from '../agents/agent.ts'`,
    'server/accounts/worker.ts': `export const url = new URL('../agents/agent.ts', import.meta.url)`,
    'server/accounts/outside.ts': `import '../../client/call.ts'`,
    'server/agents/one.ts': `import { type Two } from './two.ts'\nexport type One = Two`,
    'server/agents/two.ts': `import type { One } from './one.ts'\nexport type Two = One | null`,
    'server/agents/contract.ts': `import { hash } from './hash.ts'\nexport const size = hash.length`,
    'server/agents/hash.ts': `import { createHash } from 'node:crypto'\nexport const hash = String(createHash)`,
    'client/call.ts': `import type { Agent } from '../server/agents/agent.ts'\nexport type Call = Agent`,
    'widget/frame/chat.ts': `import { Pool } from 'pg'\nexport const chat = Pool`,
    'server/agents/fine.ts': `import { later } from '../accounts/dynamic.ts'\nexport const fine = later`,
    'server/fine.ts': `import './agents/fine.ts'`,
  })
  assert.equal(status, 1)
  assert.deepEqual(problems, [
    'client/call.ts imports server/agents/agent.ts, which users who copy client/ do not have',
    'server/accounts/again.ts imports upward: server/agents/agent.ts',
    'server/accounts/dynamic.ts imports upward: server/agents/agent.ts',
    'server/accounts/effect.ts imports upward: server/agents/agent.ts',
    'server/accounts/outside.ts imports client/call.ts, which is outside of server/',
    'server/accounts/words.ts imports upward: server/agents/agent.ts',
    'server/accounts/worker.ts imports upward: server/agents/agent.ts',
    'server/agents/contract.ts must work in a browser, but server/agents/hash.ts imports node:crypto',
    'these files import each other in a circle: server/agents/one.ts, server/agents/two.ts',
    'widget/frame/chat.ts must work in a browser, but widget/frame/chat.ts imports pg',
  ])
})

test('a project that follows the rules passes', () => {
  const { status, problems } = check({
    'server/agents/agent.ts': `import { words } from '../accounts/words.ts'\nexport const agent = words`,
    'server/accounts/words.ts': 'export const words = 1',
  })
  assert.deepEqual({ status, problems }, { status: 0, problems: [] })
})
