import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import { openEmbedded } from '../../server/platform/db/database.ts'
import { failedStart, type Running, spawnService } from '../spawn-service.ts'
import type { Answer } from '../start.ts'
import { until } from '../until.ts'

const MB = 1024 * 1024
const DISK_BYTES = 400 * MB

const disk = mkdtempSync(join(tmpdir(), 'parley-disk-'))
const reason = mounted()
after(() => {
  if (reason === false) execFileSync('umount', ['-l', disk])
  rmSync(disk, { recursive: true, force: true })
})

function mounted(): string | false {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'tmpfs', disk], { stdio: 'ignore' })
    return false
  } catch {
    return 'it needs a small disk, and only root on Linux can mount one'
  }
}

const ballast = join(disk, 'ballast')
const freeBytes = (): number => {
  const { bavail, bsize } = statfsSync(disk)
  return bavail * bsize
}

/** Fills the disk until only this many bytes are free. */
function leave(bytes: number): void {
  const file = openSync(ballast, 'a')
  const piece = Buffer.alloc(64 * 1024)
  try {
    while (freeBytes() > bytes) writeSync(file, piece, 0, Math.min(piece.length, freeBytes() - bytes))
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, 'ENOSPC')
  }
  closeSync(file)
}

const env = { DATA_DIR: join(disk, 'data'), PORT: '0', LOG_LEVEL: 'warn', SEED_DEMO: '0' }

const asker =
  ({ url }: Running, key: string) =>
  async (method: string, path: string, sent?: object): Promise<Answer> => {
    const isForm = sent instanceof FormData
    const body = sent === undefined ? null : isForm ? sent : JSON.stringify(sent)
    const headers = {
      authorization: `Bearer ${key}`,
      ...(isForm || body === null ? {} : { 'content-type': 'application/json' }),
    }
    const response = await fetch(`${url}/api/v2${path}`, { method, body, headers })
    return { status: response.status, headers: response.headers, body: await response.json() }
  }

test('a full disk refuses writes, answers reads, starts no new work, and goes on by itself', {
  skip: reason,
}, async () => {
  const service = await spawnService(env)
  const key = /parley_\S+/.exec(service.output)?.[0] ?? ''
  const ask = asker(service, key)
  const { body: agent } = await ask('POST', '/agents', { name: 'First' })
  const file = new FormData()
  file.set('name', 'Hours')
  file.set('file', new Blob(['Opening hours are nine to five.']), 'hours.txt')

  const sources: string[] = []
  for (let i = 0; i < 4; i++) {
    const content = Array.from({ length: 10_000 }, (_, n) => `Article ${n} costs ${n * i} euros.`).join(
      '\n\n',
    )
    const { status, body } = await ask('POST', `/agents/${agent.id}/sources`, {
      type: 'text',
      name: `Prices ${i}`,
      content,
    })
    assert.equal(status, 201)
    sources.push(body.id)
  }

  // Below the reserve of 5 %.
  leave(0.03 * DISK_BYTES)
  await until('the check', async () => (await ask('GET', '/health')).body.storage === 'full')
  for (const refused of [
    await ask('POST', '/agents', { name: 'Second' }),
    await ask('PUT', `/agents/${agent.id}`, { name: 'Changed' }),
    await ask('POST', `/agents/${agent.id}/chat`, { message: 'Hello' }),
    await ask('POST', `/agents/${agent.id}/sources`, file),
  ]) {
    assert.deepEqual([refused.status, refused.body.error?.code], [503, 'STORAGE_FULL'])
    assert.equal(refused.headers.get('retry-after'), null)
  }
  assert.equal((await ask('GET', '/agents')).status, 200)
  assert.equal((await ask('POST', `/agents/${agent.id}/helpdesk/tickets/search`, { query: 'x' })).status, 200)
  const health = await ask('GET', '/health')
  assert.deepEqual([health.status, health.body.status, health.body.storage], [200, 'ok', 'full'])

  // It continues by itself.
  rmSync(ballast)
  await until('room', async () => (await ask('GET', '/health')).body.storage === undefined)
  const kept = await ask('POST', `/agents/${agent.id}/sources`, file)
  assert.equal(kept.status, 201, JSON.stringify(kept.body))
  assert.equal((await ask('POST', '/agents', { name: 'Second' })).status, 201)
  await until('training', async () => {
    const states = await Promise.all(
      sources.map(async (id) => (await ask('GET', `/agents/${agent.id}/sources/${id}`)).body.status),
    )
    return states.every((state) => state === 'trained')
  })
  assert.equal(await service.kill('SIGTERM'), 0)
})

test('past the reserve, the embedded database ends with a sentence and loses nothing', {
  skip: reason,
}, async () => {
  const dataDir = join(disk, 'database-alone')
  const program = `
    import { sql } from 'kysely'
    import { openEmbedded } from './server/platform/db/database.ts'
    const { db } = await openEmbedded(${JSON.stringify(dataDir)})
    await sql\`create table if not exists notes (id integer, text text)\`.execute(db)
    console.log('ready')
    const fill = () => sql\`select pg_logical_emit_message(false, 'fill', repeat('x', 500000))\`.execute(db)
    for (let id = 1; ; id++) {
      const row = sql\`insert into notes select \${id}::integer, string_agg(md5(random()::text), '') from generate_series(1, 2000)\`
      await row.execute(db).then(() => console.log(id), (error) => error.code === '53100' ? fill() : Promise.reject(error))
    }`
  const child = spawn(process.execPath, ['--liftoff-only', '--input-type=module', '--eval', program])
  let [output, said] = ['', '']
  after(() => child.kill('SIGKILL'))
  child.stdout.on('data', (text) => {
    output += text
  })
  child.stderr.on('data', (text) => {
    said += text
  })
  await until('the table', async () => output.startsWith('ready'))
  leave(MB)
  const code = await new Promise((resolve) => child.on('close', resolve))
  assert.equal(code, 69, said)
  assert.match(
    said,
    /^The embedded database has stopped. The disk with \S+ is full[^\n]*Free some space[^\n]*\n$/,
  )

  await openEmbedded(dataDir).then(
    ({ close }) => close(),
    (error: Error) => assert.match(error.message, /^The disk with \S+ is full[^\n]*$/),
  )
  rmSync(ballast)
  const { db, close } = await openEmbedded(dataDir)
  const { rows } = await sql<{ id: number }>`select id from notes`.execute(db)
  await close()
  const kept = new Set(rows.map(({ id }) => id))
  const acknowledged = output.trim().split('\n').slice(1).map(Number)
  assert.ok(acknowledged.length > 0)
  assert.deepEqual(
    acknowledged.filter((id) => !kept.has(id)),
    [],
  )
})

test('a new data folder on a disk without room is refused with a sentence', { skip: reason }, async () => {
  leave(20 * MB)
  const { code, stderr } = await failedStart({ ...env, DATA_DIR: join(disk, 'new') })
  rmSync(ballast)
  assert.equal(code, 69, stderr)
  assert.match(stderr, /^The disk with \S+ is full[^\n]*\n$/)
})
