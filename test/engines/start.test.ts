import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { onPostgres } from '../database.ts'
import { readStream } from '../read-stream.ts'
import { failedStart, newHome, parley, spawnService } from '../spawn-service.ts'
import { until } from '../until.ts'

/** These tests do not use the database, or only the embedded one. */
const skip = onPostgres() && 'It runs when TEST_DATABASE_URL is not set.'

test('the first start prints a curl command that streams a cited answer; the second keeps everything', async () => {
  const home = await newHome({ empty: true })
  const env = { ...home.env, SEED_DEMO: '1' }
  const first = await spawnService(env)
  const [, url, key, body] =
    /curl -N (\S+) -H 'Authorization: Bearer (\S+)' .* -d '(.*)'/.exec(first.output) ?? []
  assert.ok(url && key && body, first.output)
  const ask = (address: string) =>
    fetch(address, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body,
    })
  const { text, events } = await readStream(await ask(url))
  assert.match(text, /multipart\/form-data/)
  assert.ok(events.some(({ event }) => event === 'data-sources'))
  assert.equal(await first.kill('SIGTERM'), 0)

  // A reranker that is away is named in a line, and the answers are those without it.
  const reranker = { name: 'judge', baseUrl: 'http://127.0.0.1:9/v1' }
  const MODELS_FILE = join(home.folder, 'models.json')
  writeFileSync(MODELS_FILE, JSON.stringify({ models: [], reranker }))
  const second = await spawnService({ ...env, MODELS_FILE, LOG_LEVEL: 'warn' })
  assert.doesNotMatch(second.output, /API key/)
  const again = await readStream(await ask(url.replace(first.url, second.url)))
  assert.equal(again.text, text)
  await until('the line about the reranker', async () =>
    /Reranker \\?"judge\\?" at http:\/\/127\.0\.0\.1:9\/v1 cannot be reached \(ECONNREFUSED\)/.test(
      second.output,
    ),
  )
  await second.kill('SIGKILL')
  await home.remove()
})

test('invalid variables are rejected with a line for each problem', { skip }, async () => {
  const home = await newHome({ embedded: true })
  const { code, stderr } = await failedStart({
    ...home.env,
    PORT: 'eighty',
    LOG_LEVEL: 'loud',
    DATABASE_URL: 'mysql://user:hunter2@host/db',
    SECRET_KEY: 'short-secret',
    TRUSTED_PROXIES: 'proxy.local',
    MODELS_FILE: '/nowhere.json',
    SEED_DEMO: 'yes',
  })
  assert.equal(code, 78)
  const lines = stderr.trim().split('\n')
  for (const name of [
    'PORT',
    'LOG_LEVEL',
    'DATABASE_URL',
    'SECRET_KEY',
    'TRUSTED_PROXIES',
    'MODELS_FILE',
    'SEED_DEMO',
  ]) {
    assert.equal(lines.filter((line) => line.startsWith(`${name}: `)).length, 1, `${name} in\n${stderr}`)
  }
  assert.equal(lines.length, 7)
  assert.doesNotMatch(stderr, /hunter2|short-secret/)
  await home.remove()
})

test('a second process in the data folder is rejected; a killed one leaves no lock behind', {
  skip,
}, async () => {
  const home = await newHome({ embedded: true })
  const first = await spawnService(home.env)
  const second = await failedStart(home.env)
  assert.equal(second.code, 69)
  assert.match(second.stderr, /is in use by another Parley process/)
  assert.equal(second.stderr.trim().split('\n').length, 1)
  const port = new URL(first.url).port
  const elsewhere = await newHome({ embedded: true })
  const taken = await failedStart({ ...elsewhere.env, PORT: port })
  assert.match(taken.stderr, /in use by another program/)
  await first.kill('SIGKILL')
  const third = await spawnService(home.env)
  assert.equal((await parley(['account', 'list'], home.env)).code, 0)
  await third.kill('SIGKILL')
  await home.remove()
  await elsewhere.remove()
})

test('a database that cannot be reached or used is one clear line', { skip }, async () => {
  const home = await newHome({ embedded: true })
  const { code, stderr } = await failedStart({
    ...home.env,
    DATABASE_URL: 'postgres://x:hunter2@127.0.0.1:1/x',
  })
  assert.equal(code, 69)
  assert.match(stderr, /DATABASE_URL cannot be used/)
  assert.doesNotMatch(stderr, /hunter2/)
  await home.remove()
})
