import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, test } from 'node:test'

const folder = mkdtempSync(join(tmpdir(), 'parley-code-'))
after(() => rmSync(folder, { recursive: true }))

const lines = (count: number): string => Array.from({ length: count }, (_, at) => `  log(${at})`).join('\n')

test('assertions through unknown and long functions are reported; inner functions with names are measured apart', () => {
  mkdirSync(join(folder, 'server'))
  writeFileSync(
    join(folder, 'tsconfig.json'),
    '{ "compilerOptions": { "types": [] }, "include": ["server"] }',
  )
  writeFileSync(
    join(folder, 'server/code.ts'),
    [
      'declare const log: (at: number) => void',
      `export function long() {\n${lines(79)}\n}`,
      `export function outer() {\n  const inner = () => {\n${lines(70)}\n  }\n${lines(70)}\n  return inner\n}`,
      `export function unnamed() {\n  return [() => {\n${lines(78)}\n  }]\n}`,
      'export const text = 1 as unknown as string',
      "export const kind = 'kind' as const",
    ].join('\n'),
  )
  const script = resolve(import.meta.dirname, '../scripts/check-code.ts')
  const { status, stderr } = spawnSync(process.execPath, [script, folder], { encoding: 'utf8' })
  assert.equal(status, 1)
  assert.deepEqual(stderr.trim().split('\n').sort(), [
    '2 type assertions; at most 3 per 1,000 lines',
    'server/code.ts:2 is a function of 81 lines; at most 80',
    'server/code.ts:228 is a function of 82 lines; at most 80',
    'server/code.ts:310 asserts a type through unknown',
  ])
})
