import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { FolderInUse, FolderUnusable, lockFolder } from './folder-lock.ts'

const root = mkdtempSync(join(tmpdir(), 'parley-lock-'))
after(() => rmSync(root, { recursive: true }))

test('the folder has one holder at a time, and only its owner can access it', () => {
  const folder = join(root, 'made', 'here')
  const lock = lockFolder(folder)
  assert.equal(statSync(folder).mode & 0o777, 0o700)
  assert.throws(() => lockFolder(folder), FolderInUse)
  lock.release()
  lockFolder(folder).release()
})

test('the lock of a killed process is free at once', async () => {
  const folder = join(root, 'killed')
  const source = `import { lockFolder } from ${JSON.stringify(new URL('./folder-lock.ts', import.meta.url).href)}
    globalThis.held = lockFolder(process.argv[1]); process.stdout.write('locked'); setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', source, folder])
  await once(child.stdout, 'data')
  assert.throws(() => lockFolder(folder), FolderInUse)
  child.kill('SIGKILL')
  await once(child, 'exit')
  lockFolder(folder).release()
})

test('an unusable data folder is distinguished from one in use', () => {
  const file = join(root, 'file')
  writeFileSync(file, '')
  const odd = join(root, 'odd')
  mkdirSync(join(odd, 'lock'), { recursive: true })
  for (const folder of [file, join(file, 'below'), odd]) {
    assert.throws(() => lockFolder(folder), FolderUnusable, folder)
    assert.throws(() => lockFolder(folder), /^FolderUnusable: DATA_DIR: the folder /)
  }
})
