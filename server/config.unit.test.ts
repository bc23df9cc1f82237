import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { test } from 'node:test'
import { ConfigError, readConfig } from './config.ts'

function problemsOf(env: Record<string, string>): string[] {
  try {
    readConfig(env)
    return []
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error))
    return error.problems
  }
}

test('without any variables, the configuration is complete', () => {
  const config = readConfig({})
  assert.deepEqual(
    [config.host, config.port, config.databaseUrl, config.redisUrl, config.secretKey, config.seedDemo],
    ['127.0.0.1', 8080, null, null, null, true],
  )
  assert.ok(isAbsolute(config.dataDir))
  assert.deepEqual(readConfig({ PORT: '', DATABASE_URL: '  ' }).port, 8080, 'an empty variable is unset')
})

test('a collector’s keys are refused where they would end up in the log', () => {
  const endpoint = 'https://collector.example'
  const headers = (text: string) =>
    problemsOf({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_HEADERS: text })
  assert.deepEqual(readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }).otlp?.endpoint, endpoint)
  assert.deepEqual(headers('authorization=Bearer%20k%3D1,x=a=b'), [])
  for (const text of ['authorization=Bearer%0Asecret', 'a b=secret', 'x=%secret', 'secret', '=secret']) {
    const [problem = ''] = headers(text)
    assert.match(problem, /name=value/, text)
    assert.doesNotMatch(problem, /secret/)
  }
  const [problem = ''] = problemsOf({ OTEL_EXPORTER_OTLP_ENDPOINT: 'https://me:secret@collector.example' })
  assert.match(problem, /password/)
  assert.doesNotMatch(problem, /secret/)
})

test('the log is human-readable on a terminal and JSON elsewhere, unless configured otherwise', () => {
  assert.equal(readConfig({}, true).logFormat, 'pretty')
  assert.equal(readConfig({}, false).logFormat, 'json')
  assert.equal(readConfig({ LOG_FORMAT: 'json' }, true).logFormat, 'json')
  assert.throws(() => readConfig({ LOG_FORMAT: 'xml' }), /LOG_FORMAT: must be one of json, pretty/)
  assert.throws(() => readConfig({ LOG_REQUESTS: 'yes' }), /LOG_REQUESTS: must be one of 0, 1/)
})

test('valid values are accepted', () => {
  const config = readConfig({
    PORT: '0',
    PUBLIC_URL: 'https://parley.example/',
    REDIS_URL: 'rediss://user:secret@cache:6380/2',
    TRUSTED_PROXIES: '10.0.0.0/8, ::1',
    COUNTRY_HEADER: 'CF-IPCountry',
    // The setting that load tests use.
    RATE_LIMIT: '1000000/10',
    SEED_DEMO: '0',
  })
  assert.deepEqual(config.rateLimit, { limit: 1_000_000, windowMs: 10_000 })
  assert.deepEqual(readConfig({}).rateLimit, { limit: 100, windowMs: 10_000 })
  assert.deepEqual(
    [
      config.port,
      config.publicUrl,
      config.redisUrl,
      config.trustedProxies,
      config.seedDemo,
      config.countryHeader,
    ],
    [
      0,
      'https://parley.example',
      'rediss://user:secret@cache:6380/2',
      ['10.0.0.0/8', '::1'],
      false,
      'cf-ipcountry',
    ],
  )
})

test('each invalid value results in one line that begins with its name and contains no secret', () => {
  const wrong: [string, string][] = [
    ['PORT', 'eighty'],
    ['RATE_LIMIT', '100'],
    ['RATE_LIMIT', '0/10'],
    ['RATE_LIMIT', '10000001/10'],
    ['RATE_LIMIT', '100/99999'],
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['PORT', '80.5'],
    ['DATABASE_URL', 'mysql://user:hunter2@host/db'],
    ['DATABASE_URL', 'hunter2'],
    ['REDIS_URL', 'http://user:hunter2@host'],
    ['REDIS_URL', 'redis://user:hunter2@host/cache'],
    ['PUBLIC_URL', 'parley.example'],
    ['SECRET_KEY', 'hunter2'],
    ['TRUSTED_PROXIES', '10.0.0.0/8,proxy.local'],
    ['LOG_LEVEL', 'loud'],
    ['MODELS_FILE', '/nowhere/models.json'],
    ['ALLOWED_PRIVATE_HOSTS', 'http://intranet/'],
    ['SEARCH_URL', 'search.example'],
    ['COUNTRY_HEADER', 'X-Country'],
    ['BROWSER_PATH', '/nowhere/chromium'],
    ['BROWSER_PATH', '/tmp'],
    ['SEED_DEMO', 'yes'],
    ['OPENAI_BASE_URL', 'localhost:11434'],
  ]
  for (const [name, value] of wrong) {
    const problems = problemsOf({ [name]: value })
    assert.equal(problems.length, 1, `${name}=${value}: ${problems}`)
    assert.ok(problems[0]!.startsWith(`${name}: `), problems[0])
    assert.doesNotMatch(problems[0]!, /hunter2|\n/)
  }
})

test('all problems are reported at once', () => {
  const problems = problemsOf({ PORT: 'x', LOG_LEVEL: 'x', SEED_DEMO: 'x', REDIS_URL: 'x' })
  assert.deepEqual(problems.map((line) => line.split(':')[0]).sort(), [
    'LOG_LEVEL',
    'PORT',
    'REDIS_URL',
    'SEED_DEMO',
  ])
})

test('a catalogue that is not JSON is rejected with its path', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-config-'))
  const file = join(folder, 'models.json')
  writeFileSync(file, '{"models": [')
  const [problem] = problemsOf({ MODELS_FILE: file })
  assert.match(problem ?? '', /^MODELS_FILE: the file .*models\.json is not valid JSON/)
  rmSync(folder, { recursive: true })
})
