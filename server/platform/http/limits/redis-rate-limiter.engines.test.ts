import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { redisRateLimiter } from './redis-rate-limiter.ts'

const program = ['valkey-server', 'redis-server'].find((name) => spawnSync(name, ['--version']).status === 0)

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })

async function startServer(port: number, folder: string): Promise<ChildProcess> {
  const child = spawn(
    program!,
    ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', folder],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  )
  await new Promise<void>((ready) => {
    child.stdout.on('data', (text: Buffer) => {
      if (text.toString().includes('eady to accept connections')) ready()
    })
  })
  return child
}

test('two processes share one exact window, and each continues alone while the server is unavailable', {
  skip: !program && 'no Valkey or Redis server is installed',
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-redis-'))
  const port = await freePort()
  const server = await startServer(port, folder)
  const errors: unknown[] = []
  const onState = (problem: Error | null) => errors.push(problem)
  const options = { url: `redis://127.0.0.1:${port}`, onState, limit: 100, windowMs: 2_000 }
  const limiters = [redisRateLimiter(options), redisRateLimiter(options)]
  await wait(300)
  const answers = await Promise.all(Array.from({ length: 240 }, (_, i) => limiters[i % 2]!.take('key')))
  assert.equal(answers.filter(({ allowed }) => allowed).length, 100)
  const refused = await limiters[0]!.take('key')
  assert.deepEqual([refused.allowed, refused.remaining], [false, 0])
  assert.ok(refused.resetAt > Date.now() - 1_000)
  assert.equal((await limiters[1]!.peek('other')).remaining, 100)
  await wait(2_100)
  assert.equal((await limiters[0]!.take('key')).allowed, true)
  assert.equal(errors.filter(Boolean).length, 0)

  server.kill('SIGKILL')
  await wait(200)
  assert.equal((await limiters[0]!.take('key')).allowed, true, 'it counts for itself')
  assert.ok(errors.length > 0)
  const again = await startServer(port, folder)
  await wait(2_500)
  assert.equal((await limiters[0]!.take('fresh')).remaining, 99)
  assert.equal((await limiters[1]!.take('fresh')).remaining, 98, 'they share again')
  for (const limiter of limiters) await limiter.close()
  again.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})
