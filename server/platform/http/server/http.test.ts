import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { type Client, type Service, startService } from '../../../../test/start.ts'

let service: Service
let client: Client

before(async () => {
  service = await startService({ RATE_LIMIT: '100/10' })
  client = await service.account()
})
after(() => service.close())

test('health answers without a key, with rate-limit headers and a request id', async () => {
  const { status, body, headers } = await service.anonymous('GET', '/health')
  assert.equal(status, 200)
  assert.deepEqual({ ...body, timestamp: typeof body.timestamp }, { status: 'ok', timestamp: 'number' })
  const detailed = await service.anonymous('GET', '/health?details=true')
  assert.equal(detailed.body.embedding, 'none')
  assert.equal(headers.get('x-ratelimit-limit'), '100')
  assert.ok(headers.get('x-request-id'))
})

test('a request id of the caller is kept only if it is harmless', async () => {
  const kept = await service.anonymous('GET', '/health', undefined, { 'x-request-id': 'abc-1_2' })
  assert.equal(kept.headers.get('x-request-id'), 'abc-1_2')
  const replaced = await service.anonymous('GET', '/health', undefined, { 'x-request-id': 'a b' })
  assert.notEqual(replaced.headers.get('x-request-id'), 'a b')
})

test("the key's account and scopes are returned", async () => {
  const { status, body } = await client.request('GET', '/me')
  assert.equal(status, 200)
  assert.equal(body.account.id, client.accountId)
  assert.equal(body.plan, 'unlimited')
  assert.equal(body.credits.limit, null)
})

test('each kind of missing or invalid key has its code', async () => {
  const expired = await service.account({ expiresAt: new Date(Date.now() - 1000) })
  const free = await service.account({ plan: 'free' })
  const narrow = await service.account({ scopes: ['chat'] })
  const cases: [Record<string, string>, number, string][] = [
    [{}, 401, 'AUTH_MISSING_API_KEY'],
    [{ authorization: 'Bearer nope' }, 401, 'AUTH_INVALID_API_KEY'],
    [{ 'x-api-key': client.key }, 401, 'AUTH_MISSING_API_KEY'],
    [
      { authorization: `Bearer ${narrow.key}`, 'x-api-key': client.key },
      403,
      'AUTH_INSUFFICIENT_PERMISSIONS',
    ],
    [{ authorization: client.key }, 401, 'AUTH_INVALID_API_KEY'],
    [{ authorization: 'Bearer' }, 401, 'AUTH_INVALID_API_KEY'],
    [{ authorization: `Bearer ${expired.key}` }, 401, 'AUTH_EXPIRED_API_KEY'],
    [{ authorization: `Bearer ${free.key}` }, 403, 'SUBSCRIPTION_API_RESTRICTED_PLAN'],
    [{ authorization: `Bearer ${narrow.key}` }, 403, 'AUTH_INSUFFICIENT_PERMISSIONS'],
  ]
  for (const [headers, status, code] of cases) {
    const answer = await service.anonymous('GET', '/me', undefined, headers)
    assert.equal(answer.status, status, code)
    assert.equal(answer.body.error.code, code)
    assert.ok(answer.headers.get('x-ratelimit-limit'), 'rate-limit headers')
    assert.ok(answer.headers.get('x-request-id'), 'request id')
  }
})

test('an unknown path is 404, a known one with another method 405 with Allow', async () => {
  for (const path of ['/nope', '/agents/a/b/c/d/e', '/%zz']) {
    const unknown = await client.request('GET', path)
    assert.equal(unknown.status, 404)
    assert.equal(unknown.body.error.code, 'ROUTE_NOT_FOUND')
    assert.ok(unknown.headers.get('x-request-id'))
    assert.ok(unknown.headers.get('x-ratelimit-limit'), path)
  }
  const wrong = await client.request('DELETE', '/me')
  assert.equal(wrong.status, 405)
  assert.equal(wrong.body.error.code, 'METHOD_NOT_ALLOWED')
  assert.equal(wrong.headers.get('allow'), 'GET, HEAD, PATCH')
})

test('during maintenance, everything but health is rejected before the key is checked', async () => {
  await service.ctx.maintenance.set(true)
  const refused = await service.anonymous('GET', '/me')
  assert.equal(refused.status, 503)
  assert.equal(refused.body.error.code, 'SERVICE_UNDER_MAINTENANCE')
  assert.equal(refused.headers.get('retry-after'), null)
  assert.equal((await service.anonymous('GET', '/health')).status, 200)
  await service.ctx.maintenance.set(false)
  assert.equal((await client.request('GET', '/me')).status, 200)
})

test('the 101st request in ten seconds is rejected and says when to retry', async () => {
  const busy = await service.account()
  // On a slow machine, a hundred sequential requests take longer than ten seconds.
  const ask = (count: number) => Promise.all(Array.from({ length: count }, () => busy.raw('GET', '/me')))
  const first = await ask(100)
  assert.ok(first.every(({ status }) => status === 200))
  const more = await ask(50)
  const refused = more.at(-1)!
  assert.equal(refused.status, 429)
  assert.equal(
    ((await refused.json()) as { error: { code: string } }).error.code,
    'RATE_LIMIT_TOO_MANY_REQUESTS',
  )
  assert.equal(refused.headers.get('x-ratelimit-remaining'), '0')
  assert.ok(Number(refused.headers.get('retry-after')) >= 1)
  assert.ok(Number(refused.headers.get('x-ratelimit-reset')) > Date.now())
  assert.equal((await client.request('GET', '/me')).status, 200, 'another key is not concerned')
})

test('errors outside the API have the same format and reveal no internals', async () => {
  const ask = async (path: string) => {
    const response = await fetch(`${service.url}${path}`)
    return [response.status, ((await response.json()) as { error?: { code: string } }).error?.code]
  }
  assert.deepEqual(await ask('/pictures/nobody/icon'), [404, 'RESOURCE_NOT_FOUND'])
  assert.deepEqual(await ask('/widget/nobody/launcher.json'), [404, 'AGENT_NOT_FOUND'])
  await service.ctx.maintenance.set(true)
  assert.deepEqual(await ask('/pictures/nobody/icon'), [503, 'SERVICE_UNDER_MAINTENANCE'])
  await service.ctx.maintenance.set(false)
})

test("after too many rejections, an address's keys are no longer looked up in the database", async () => {
  const own = await startService({ RATE_LIMIT: '100/10' })
  const refuse = (key: string) => own.anonymous('GET', '/me', undefined, { authorization: `Bearer ${key}` })
  const client = await own.account()
  assert.equal((await client.request('GET', '/me')).status, 200)
  for (let i = 0; i < 100; i++) assert.equal((await refuse(`parley_${i}`)).status, 401)
  await sql`alter table api_keys rename to api_keys_away`.execute(own.ctx.db)
  assert.equal((await refuse('parley_one_more')).status, 429)
  await sql`alter table api_keys_away rename to api_keys`.execute(own.ctx.db)
  assert.equal((await client.request('GET', '/me')).status, 200, 'a key that was seen to be good is served')
  await own.close()
})
