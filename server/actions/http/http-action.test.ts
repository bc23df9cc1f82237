import assert from 'node:assert/strict'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import { type Client, type Service, startService } from '../../../test/start.ts'
import { runTool } from '../definitions/for-tests.ts'

type Seen = {
  method: string | undefined
  url: string | undefined
  headers: IncomingHttpHeaders
  body: string
}
type Reply = { status?: number; headers?: Record<string, string>; body?: string | Buffer; silent?: boolean }

/** A server that records its requests and responds with `reply`. */
const seen: Seen[] = []
let reply: (request: Seen) => Reply
const listen = async (): Promise<Server> => {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { method, url, headers } = request
    seen.push({ method, url, headers, body: Buffer.concat(chunks).toString() })
    const { status = 200, headers: own, body = '', silent = false } = reply(seen.at(-1)!)
    if (!silent) response.writeHead(status, own).end(body)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return server
}
const originOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`

let [api, other]: Server[] = []
let service: Service
let client: Client
let agentId: string
let path: string
let origin: string

before(async () => {
  ;[api, other] = [await listen(), await listen()]
  origin = originOf(api)
  const hosts = [api, other].map((server) => new URL(originOf(server)).host).join(',')
  service = await startService({ ALLOWED_PRIVATE_HOSTS: hosts })
})
after(async () => {
  await service.close()
  for (const server of [api, other]) {
    server?.closeAllConnections()
    server?.close()
  }
})
beforeEach(async () => {
  client = await service.account()
  agentId = (await client.request('POST', '/agents', { name: 'Agent' })).body.id
  path = `/agents/${agentId}/actions`
  seen.length = 0
  reply = () => ({})
})

const properties = { order: { type: 'string' }, count: { type: 'integer', default: 1 }, list: {} }
const actionOf = (http: object, more: object = {}) => ({
  name: 'call',
  type: 'http',
  description: 'Calls.',
  inputs: { type: 'object', properties },
  http: { method: 'GET', url: `${origin}/x`, ...http },
  ...more,
})
async function add(http: object): Promise<string> {
  const { status, body } = await client.request('POST', path, actionOf(http))
  assert.equal(status, 201, JSON.stringify(body))
  return body.id
}
const put = (id: string, http: object) => client.request('PUT', `${path}/${id}`, { http })
const run = (input: object = {}) => runTool(service.ctx, agentId, 'call', input)
const storedRow = async (id: string): Promise<string> => {
  const { rows } = await sql<{ row: string }>`
    select to_jsonb(actions)::text as row from actions where id = ${id}`.execute(service.ctx.db)
  return rows[0]?.row ?? ''
}

test('a request is sent with its slots filled, and the response is returned as JSON', async () => {
  await add({
    method: 'POST',
    url: `${origin}/orders/{{order}}?n={{count}}`,
    headers: { Authorization: 'Bearer s3cret-token', 'X-Order': 'no. {{order}}' },
    body: '{"order": "{{order}}", "count": {{count}}, "list": {{list}}}',
  })
  reply = () => ({ headers: { 'content-type': 'application/json' }, body: '{"state": "sent"}' })
  const output = await run({ order: '7/8 "x"', list: [1, { a: null }] })
  assert.deepEqual(output, { status: 'success', data: { state: 'sent' } })
  const [request] = seen
  assert.deepEqual([request?.method, request?.url], ['POST', '/orders/7%2F8%20%22x%22?n=1'])
  assert.equal(request?.headers.authorization, 'Bearer s3cret-token')
  assert.equal(request?.headers['x-order'], 'no. 7/8 "x"')
  assert.equal(request?.headers['content-type'], 'application/json')
  assert.deepEqual(JSON.parse(request?.body ?? ''), { order: '7/8 "x"', count: 1, list: [1, { a: null }] })
})

test('inputs cannot escape from their place in path, query, header or body', async () => {
  const headers = { 'X-A': '{{order}}', 'Content-Type': 'application/x-www-form-urlencoded' }
  await add({ method: 'PUT', url: `${origin}/a/{{order}}/b?q={{order}}`, headers, body: 'x={{order}}&y=1' })
  assert.deepEqual(await run({ order: '../?&#@h' }), { status: 'success' })
  assert.equal(seen[0]?.url, '/a/..%2F%3F%26%23%40h/b?q=..%2F%3F%26%23%40h')
  assert.equal(seen[0]?.body, 'x=..%2F%3F%26%23%40h&y=1')
  for (const order of ['..', '.', '', 'a\r\nX-B: 1', 'a\nb', 'a\0b', '名']) {
    const output = await run({ order })
    assert.equal(output.status, 'error', JSON.stringify(order))
  }
  assert.equal(seen.length, 1, 'nothing else went out')
  assert.deepEqual(await run({ order: 7 }), { status: 'error', error: 'The input "order" must be string.' })
})

test('unknown slots and slots in forbidden places are rejected when the action is saved', async () => {
  const wrong: [object, string][] = [
    [{ url: `${origin}/{{gone}}` }, 'http.url'],
    [{ url: `${origin}/{{order` }, 'http.url'],
    [{ url: 'https://{{order}}/' }, 'http.url'],
    [{ url: '{{order}}' }, 'http.url'],
    [{ headers: { 'X-A': '{{gone}}' } }, 'http.headers.X-A'],
    [{ headers: { 'X-A': 'a\nb' } }, 'http.headers.X-A'],
    [{ headers: { 'x a': 'b' } }, 'http.headers.x a'],
    [{ headers: { 'x-a': 'b', 'X-A': 'c' } }, 'http.headers.x-a'],
    [{ headers: { Host: 'b' } }, 'http.headers.Host'],
    [{ headers: { 'X-A': null } }, 'http.headers.X-A'],
    [{ method: 'POST', body: '{"a": {{gone}}}' }, 'http.body'],
    [{ method: 'POST', body: 'a={{order}}' }, 'http.body'],
    [{ method: 'GET', body: '{}' }, 'http.body'],
    [{ timeoutMs: 30_001 }, 'http.timeoutMs'],
    [{ method: 'TRACE' }, 'http.method'],
  ]
  for (const [http, field] of wrong) {
    const { status, body } = await client.request('POST', path, actionOf(http))
    assert.equal(status, 400, field)
    assert.ok(body.error.details[field], `${field}: ${JSON.stringify(body)}`)
  }
  const id = await add({ headers: { 'X-A': '{{order}}' } })
  const change = { inputs: { type: 'object', properties: { other: {} } } }
  const { body } = await client.request('PUT', `${path}/${id}`, change)
  assert.match(body.error.details['http.headers.X-A'], /order/, 'a kept template is checked as well')
})

test('header values are encrypted, never returned, and kept when a change sets them to null', async () => {
  const secret = 'tok-5up3rs3cret'
  const id = await add({ headers: { Authorization: `Bearer ${secret}`, 'X-Key': 'k-12345678' } })
  const { body: shown } = await client.request('GET', `${path}/${id}`)
  assert.deepEqual(shown.http, {
    method: 'GET',
    url: `${origin}/x`,
    headers: { Authorization: null, 'X-Key': null },
    body: null,
    timeoutMs: 10_000,
  })
  const list = await client.request('GET', path)
  const row = await storedRow(id)
  assert.ok(row.includes('v2:'))
  for (const text of [row, JSON.stringify(list.body)])
    assert.ok(!text.includes(secret) && !text.includes('k-12345678'))

  assert.equal((await put(id, shown.http)).status, 200, 'what was read may be sent back')
  await put(id, { headers: { authorization: null, 'X-New': 'n' }, timeoutMs: 500 })
  await run()
  const [request] = seen
  assert.equal(request?.headers.authorization, `Bearer ${secret}`)
  assert.deepEqual([request?.headers['x-key'], request?.headers['x-new']], [undefined, 'n'])
  const missing = await put(id, { headers: { 'X-Key': null } })
  assert.match(missing.body.error.details['http.headers.X-Key'], /No value is stored/)
})

test('a stored header is not sent to another host after the URL changes', async () => {
  const id = await add({ headers: { Authorization: 'Bearer s3cret-token' } })
  const url = `${originOf(other!)}/x`
  for (const change of [{ url }, { url, headers: { Authorization: null } }]) {
    const { body } = await put(id, change)
    assert.match(body.error.details['http.headers.Authorization'], /another host/)
  }
  assert.equal((await put(id, { url: `${origin}/elsewhere` })).status, 200)
  assert.equal((await put(id, { url, headers: { Authorization: 'Bearer other' } })).status, 200)
})

test('a redirect to another origin carries no header that may be secret', async () => {
  await add({ headers: { Authorization: 'Bearer s3cret-token', 'X-Api-Key': 'k-12345678' } })
  reply = ({ url }) =>
    url === '/x' ? { status: 302, headers: { location: `${originOf(other!)}/y` } } : { body: 'ok' }
  assert.deepEqual(await run(), { status: 'success', data: 'ok' })
  assert.deepEqual(
    [seen[1]?.url, seen[1]?.headers.authorization, seen[1]?.headers['x-api-key']],
    ['/y', undefined, undefined],
  )
})

test("a body is only sent to the action's own address", async () => {
  await add({ method: 'POST', body: '{"key": "s3cret"}' })
  reply = () => ({ status: 307, headers: { location: `${originOf(other!)}/y` } })
  const output = await run()
  assert.ok(output.status === 'error')
  assert.match(output.error, /redirect, which is not followed for a request with a body/)
  assert.equal(seen.length, 1)
})

test('private addresses are rejected, by name, by number and after a redirect', async () => {
  const blocked = {
    status: 'error',
    error: 'The action was not run: its address is not on the public internet.',
  }
  const { id } = (await client.request('POST', path, actionOf({ url: 'http://127.0.0.1:9/' }))).body
  for (const url of [
    'http://127.0.0.1:8099/',
    'http://localhost:8099/',
    'http://[::1]:8099/',
    'http://169.254.169.254/latest',
    'http://2130706433/',
  ]) {
    assert.equal((await put(id, { url })).status, 200)
    assert.deepEqual(await run(), blocked, url)
  }
  await put(id, { url: `${origin}/x` })
  reply = () => ({ status: 307, headers: { location: 'http://169.254.169.254/latest' } })
  assert.deepEqual(await run(), blocked)
})

test('a long response is cut at 20 KB, between characters', async () => {
  await add({})
  reply = () => ({ body: `a${'ü'.repeat(30_000)}` })
  const output = await run()
  assert.ok(output.status === 'success' && typeof output.data === 'string')
  assert.equal(output.data, `a${'ü'.repeat(10_239)}`)
  reply = () => ({ body: Buffer.alloc(2_000_000, 'x') })
  assert.deepEqual(await run(), {
    status: 'error',
    error: 'The response of the service is too large.',
  })
})

test('error statuses, timeouts, failed connections and invalid responses become sentences without the secrets', async () => {
  const id = await add({ headers: { Authorization: 'Bearer s3cret-token' } })
  reply = ({ headers }) => ({ status: 404, body: `no ${headers.authorization} ${'x'.repeat(600)}` })
  const missing = await run()
  assert.ok(missing.status === 'error')
  assert.match(missing.error, /^The service answered with status 404\. no \[removed\] x+$/)
  assert.equal(missing.error.length, 'The service answered with status 404. '.length + 200)
  reply = ({ headers }) => ({ body: JSON.stringify({ said: headers.authorization }) })
  assert.deepEqual(await run(), { status: 'success', data: { said: '[removed]' } })
  reply = () => ({ body: '{"a": "\\u0000"}' })
  assert.deepEqual(
    await run(),
    { status: 'success', data: '{"a": "\\u0000"}' },
    'what cannot be stored stays text',
  )
  reply = () => ({ silent: true })
  await put(id, { timeoutMs: 200 })
  assert.deepEqual(await run(), { status: 'error', error: 'The service did not answer in time.' })
  await put(id, { url: 'http://no-such-host.invalid/', headers: {} })
  assert.deepEqual(await run(), { status: 'error', error: 'The host of the action could not be found.' })
})
