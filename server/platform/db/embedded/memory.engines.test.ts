import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { startOptions } from '../../../../bench/service.ts'
import { onPostgres } from '../../../../test/database.ts'
import { MemoryTooSmall, requireMemory } from './memory.ts'

const MB = 1024 * 1024
const skip =
  (onPostgres() && 'it is about the embedded database') ||
  (process.platform !== 'linux' && 'only Linux reports the peak of a process')

/** For this long after the start, V8 would still optimise what the start has used. */
const SETTLE_MS = 8_000

const dataDir = mkdtempSync(join(tmpdir(), 'parley-memory-'))
after(() => rmSync(dataDir, { recursive: true, force: true }))

/** Starts the service as `npm start` does, and returns its peak of resident memory in MB. */
async function peakOfStart(): Promise<number> {
  const child = spawn(process.execPath, [...startOptions, 'server/main.ts'], {
    env: { PATH: process.env.PATH, DATA_DIR: dataDir, PORT: '0' },
  })
  after(() => child.kill('SIGKILL'))
  const exited = new Promise((resolve) => child.once('exit', resolve))
  let output = ''
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (text) => {
      output += text
      if (output.includes('listening on')) resolve()
    })
    void exited.then((code) => reject(new Error(`The service ended with ${code}.`)))
  })
  await wait(SETTLE_MS)
  const peak = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]
  child.kill('SIGTERM')
  await exited
  return Number(peak) / 1024
}

test('the first start takes less than 650 MB, and later ones less than 500', { skip }, async () => {
  const first = await peakOfStart()
  assert.ok(first < 650, `${first} MB`)
  const next = await peakOfStart()
  assert.ok(next < 500, `${next} MB`)
})

test('a machine or container with less memory than the start takes is refused with both numbers', () => {
  requireMemory('create', 740 * MB)
  requireMemory('open', 390 * MB)
  assert.throws(() => requireMemory('create', 739 * MB), MemoryTooSmall)
  assert.throws(
    () => requireMemory('open', 256 * MB),
    /needs 390 MB of memory to open .* 256 MB\. Give it more/,
  )
  assert.doesNotThrow(() => requireMemory('create'), 'this machine')
})
