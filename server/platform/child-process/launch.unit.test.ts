import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'

test('without unshare on the path the child processes are reported as not isolated', () => {
  const program = `import { isIsolated } from ${JSON.stringify(new URL('./launch.ts', import.meta.url).href)}
    process.stdout.write(String(isIsolated()))`
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    env: { PATH: '/nowhere' },
    encoding: 'utf8',
  })
  assert.equal(stdout, 'false')
})
