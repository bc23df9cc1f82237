import assert from 'node:assert/strict'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { createServer as createTcpServer } from 'node:net'
import { after, test } from 'node:test'
import zlib from 'node:zlib'
import { failsWith } from '../failures/fails-with.ts'
import type { FetchFailureCode } from '../failures/fetch-failure.ts'
import type { FetchOptions } from '../read/read-page.ts'
import { createGuardedFetcher } from './guarded-fetcher.ts'
import type { ResolveHost } from './pinned-connector.ts'

type Seen = { method: string; url: string; headers: http.IncomingHttpHeaders; body: string }
const seen: Seen[] = []
const redirectTo = new Map<string, [status: number, location: string]>()

const zeros = Buffer.alloc(50_000_000)
const bombs: Record<string, Buffer> = {
  gzip: zlib.gzipSync(zeros),
  deflate: zlib.deflateSync(zeros),
  br: zlib.brotliCompressSync(zeros, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } }),
}
const packed: Record<string, Buffer> = {
  gzip: zlib.gzipSync('grüße'),
  deflate: zlib.deflateSync('grüße'),
  'deflate-raw': zlib.deflateRawSync('grüße'),
  br: zlib.brotliCompressSync('grüße'),
}

const server = http.createServer(async (request, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const url = request.url!
  seen.push({
    method: request.method!,
    url,
    headers: request.headers,
    body: Buffer.concat(chunks).toString(),
  })
  const [, kind, what] = url.split(/[/?]/)
  const redirect = redirectTo.get(url)
  if (redirect) {
    response.writeHead(redirect[0], { location: Buffer.from(redirect[1]).toString('latin1') }).end('moved')
  } else if (kind === 'packed') {
    response.writeHead(200, { 'content-encoding': what!.split('-')[0]! }).end(packed[what!])
  } else if (kind === 'bomb') {
    response.writeHead(200, { 'content-encoding': what! }).end(bombs[what!])
  } else if (kind === 'endless') {
    const send = () => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536)));
    }
    response.on('drain', send)
    send()
  } else if (kind === 'drip') {
    const timer = setInterval(() => response.write('x'), 20)
    response.on('close', () => clearInterval(timer))
  } else if (kind === 'silent') {
    response.write('a')
  } else if (kind === 'headers') {
    response.writeHead(200, { 'x-big': 'h'.repeat(60_000) }).end()
  } else if (kind === 'cut') {
    response.writeHead(200, { 'content-length': '100' }).write('abc', () => response.destroy())
  } else if (kind === 'broken-gzip') {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(packed.gzip!.subarray(0, 12))
  } else if (kind === 'announce') {
    response.writeHead(200, { 'content-length': '99999999' }).write('x')
  } else {
    response
      .writeHead(Number(what ?? 200), { 'content-type': 'Text/HTML; charset="UTF-8"' })
      .end(`page ${url}`)
  }
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const { port } = server.address() as AddressInfo
const rawServer = createTcpServer((socket) => socket.on('error', () => {}).end('SSH-2.0-nothing\r\n'))
await new Promise<void>((resolve) => rawServer.listen(0, '127.0.0.1', resolve))
const rawPort = (rawServer.address() as AddressInfo).port

const names: Record<string, string[]> = {
  'one.test': ['127.0.0.1'],
  'two.test': ['127.0.0.1'],
  'inside.test': ['127.0.0.1'],
  'mixed.test': ['2d00::1', '127.0.0.1'],
  'mapped.test': ['::ffff:a9fe:a9fe'],
}
const resolve: ResolveHost = async (name) => {
  const addresses = names[name.replace(/\.$/, '')]
  if (!addresses) throw new Error('ENOTFOUND')
  return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
}

const allowedPrivateHosts = [`127.0.0.1:${port}`, `127.0.0.1:${rawPort}`, 'one.test', `two.test:${port}`]
const fetcher = createGuardedFetcher({ allowedPrivateHosts, userAgent: 'ParleyTest/1', resolve })
const base = `http://127.0.0.1:${port}`
const limits = { maxBytes: 1_000_000, timeoutMs: 5_000 }
const get = (url: string, options: Partial<FetchOptions> = {}) =>
  fetcher.fetch(url, { ...limits, ...options })

after(async () => {
  await fetcher.close()
  server.closeAllConnections()
  server.close()
  rawServer.close()
})

test('a page is returned with its type, charset, body and final URL', async () => {
  const page = await get(`${base}/plain/200?q=1#part`, { headers: { 'X-Own': 'yes' } })
  assert.equal(page.status, 200)
  assert.equal(page.url, `${base}/plain/200?q=1`)
  assert.deepEqual([page.contentType, page.charset], ['text/html', 'utf-8'])
  assert.equal(Buffer.from(page.body).toString(), 'page /plain/200?q=1')
  assert.deepEqual(page.redirects, [])
  assert.equal(seen.at(-1)!.headers['user-agent'], 'ParleyTest/1')
  assert.equal(seen.at(-1)!.headers['x-own'], 'yes')
  assert.equal((await get(`${base}/plain/404`)).status, 404)
  assert.equal((await get(`${base}/plain/503`)).status, 503)
})

test('a body is sent, and a HEAD response has none', async () => {
  await get(`${base}/plain/200`, {
    method: 'post',
    body: '{"a":1}',
    headers: { 'content-type': 'application/json' },
  })
  assert.deepEqual([seen.at(-1)!.method, seen.at(-1)!.body], ['POST', '{"a":1}'])
  const head = await get(`${base}/plain/200`, { method: 'HEAD', maxBytes: 1 })
  assert.equal(head.body.length, 0)
})

test('compressed responses are decompressed', async () => {
  for (const name of Object.keys(packed)) {
    const page = await get(`${base}/packed/${name}`)
    assert.equal(Buffer.from(page.body).toString(), 'grüße', name)
  }
})

test('anything but a plain web address is rejected', async () => {
  for (const url of [
    '',
    'nonsense',
    '//x',
    'http://',
    'http://[::1%25eth0]/',
    'http://a b/',
    'http://1.2.3.4.5/',
  ])
    await failsWith('bad_url', get(url))
  for (const url of ['http://u:p@one.test/', 'http://127.0.0.1@example.com/', 'http://example.com:25/'])
    await failsWith('bad_url', get(url))
  for (const url of ['file:///etc/passwd', 'ftp://x/', 'gopher://x/', 'data:text/html,x', 'javascript:1'])
    await failsWith('unsupported_scheme', get(url))
  await failsWith('bad_request', get(base, { headers: { Host: 'inside.test' } }))
  await failsWith('bad_request', get(base, { headers: { a: 'b\r\nc: d' } }))
})

test('one private address among the results blocks a name', async () => {
  for (const host of ['inside.test', 'inside.test.', 'mixed.test', 'mapped.test'])
    await failsWith('blocked_address', get(`http://${host}:${port}/`))
  const failure = await failsWith('dns_failed', get('http://unknown.test/'))
  assert.match(failure.message, /unknown\.test/)
})

test('the operator exempts hosts by name and port, on every hop', async () => {
  redirectTo.set('/to-two', [302, `http://two.test:${port}/plain`])
  const page = await get(`http://one.test:${port}/to-two`)
  assert.equal(page.url, `http://two.test:${port}/plain`)
  assert.deepEqual(page.redirects, [`http://one.test:${port}/to-two`])
  await failsWith('blocked_address', get('http://two.test/'))
  redirectTo.set('/to-inside', [302, `http://inside.test:${port}/plain`])
  await failsWith('blocked_address', get(`http://one.test:${port}/to-inside`))
})

test('redirects to private addresses, other schemes or blocked ports are rejected', async () => {
  const targets: [string, FetchFailureCode][] = [
    [`http://[::ffff:7f00:1]:${port}/`, 'blocked_address'],
    ['http://169.254.169.254/latest/meta-data', 'blocked_address'],
    [`//2130706433:${port + 1}/`, 'blocked_address'],
    ['file:///etc/passwd', 'unsupported_scheme'],
    ['http://u:p@one.test/', 'bad_url'],
    ['http://example.com:22/', 'bad_url'],
    ['http://[', 'bad_url'],
  ]
  for (const [location, code] of targets) {
    redirectTo.set('/away', [302, location])
    await failsWith(code, get(`${base}/away`))
  }
})

test('a page behind a cookie is reached, and no other host or fetch gets the cookie', async () => {
  const other = http.createServer((request, response) => {
    const { url = '/', headers } = request
    if (url !== '/wall') response.end(headers.cookie ?? 'none')
    else if (headers.cookie === 'own=1') response.end('inside the other')
    else response.writeHead(302, { location: url, 'set-cookie': 'own=1' }).end()
  })
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  const otherUrl = `http://127.0.0.1:${(other.address() as AddressInfo).port}/`
  const wall = http.createServer((request, response) => {
    const { url, headers } = request
    if (url === '/away') response.writeHead(302, { location: otherUrl, 'set-cookie': 'seen=1' }).end()
    else if (url === '/wall') response.writeHead(302, { location: `${otherUrl}wall` }).end()
    else if (url === '/never') response.writeHead(302, { location: url, 'set-cookie': 'seen=1' }).end()
    else if (headers.cookie?.includes('seen=1')) response.end('inside')
    else response.writeHead(302, { location: url, 'set-cookie': ['seen=1; Path=/; HttpOnly', 'b=2'] }).end()
  })
  await new Promise<void>((resolve) => wall.listen(0, '127.0.0.1', resolve))
  const { port } = wall.address() as AddressInfo
  const cookieFetcher = createGuardedFetcher({ allowedPrivateHosts: ['127.0.0.1'], userAgent: 'Test' })
  const read = async (path: string) => {
    const page = await cookieFetcher.fetch(`http://127.0.0.1:${port}${path}`, {
      maxBytes: 1_000,
      timeoutMs: 5_000,
    })
    return Buffer.from(page.body).toString()
  }
  try {
    assert.equal(await read('/page'), 'inside')
    assert.equal(await read('/page'), 'inside')
    assert.equal(await read('/away'), 'none')
    assert.equal(await read('/wall'), 'inside the other')
    await failsWith('redirect_loop', read('/never'))
  } finally {
    await cookieFetcher.close()
    wall.close()
    other.close()
  }
})

test('redirects are counted and loops detected', async () => {
  redirectTo.set('/circle-a', [302, '/circle-b'])
  redirectTo.set('/circle-b', [302, '/circle-a'])
  await failsWith('redirect_loop', get(`${base}/circle-a`))
  for (let n = 0; n < 7; n += 1) redirectTo.set(`/n${n}`, [301, `/n${n + 1}`])
  await failsWith('too_many_redirects', get(`${base}/n0`))
  assert.equal((await get(`${base}/n0`, { maxRedirects: 7 })).redirects.length, 7)
  assert.equal((await get(`${base}/n2`)).url, `${base}/n7`)
  redirectTo.set('/umlaut', [302, '/grüße'])
  assert.equal((await get(`${base}/umlaut`)).url, `${base}/gr%C3%BC%C3%9Fe`)
})

test('secrets are only sent to the origin they were given for', async () => {
  const headers = { Authorization: 'Bearer k', Cookie: 'a=b', 'X-Api-Key': 'k', Accept: 'text/plain' }
  redirectTo.set('/same', [302, '/plain'])
  await get(`${base}/same`, { headers })
  assert.equal(seen.at(-1)!.headers.authorization, 'Bearer k')
  redirectTo.set('/other', [302, `http://one.test:${port}/plain`])
  await get(`${base}/other`, { headers })
  const last = seen.at(-1)!.headers
  assert.deepEqual(
    [last.authorization, last.cookie, last['x-api-key'], last.accept],
    [undefined, undefined, undefined, 'text/plain'],
  )
})

test('a redirect changes the method where the Fetch Standard says so', async () => {
  const cases: [number, string, string][] = [
    [301, 'POST', 'GET'],
    [302, 'POST', 'GET'],
    [303, 'PUT', 'GET'],
    [307, 'POST', 'POST'],
    [308, 'PUT', 'PUT'],
    [302, 'PUT', 'PUT'],
  ]
  for (const [status, method, expected] of cases) {
    redirectTo.set('/change', [status, '/plain'])
    await get(`${base}/change`, { method, body: 'text', headers: { 'content-type': 'text/plain' } })
    const { method: sent, body, headers } = seen.at(-1)!
    assert.deepEqual([sent, body], [expected, expected === 'GET' ? '' : 'text'], `${status} ${method}`)
    assert.equal(headers['content-type'], expected === 'GET' ? undefined : 'text/plain')
  }
})

test('responses beyond the limit end early, compressed or not', async () => {
  for (const name of Object.keys(bombs)) await failsWith('too_large', get(`${base}/bomb/${name}`))
  await failsWith('too_large', get(`${base}/endless`))
  await failsWith('too_large', get(`${base}/announce`))
  await failsWith('bad_response', get(`${base}/headers`))
})

test('a server that is too slow, stops or disconnects results in a failure', async () => {
  await failsWith('timeout', get(`${base}/drip`, { timeoutMs: 200 }))
  await failsWith('timeout', get(`${base}/silent`, { timeoutMs: 200 }))
  await failsWith('bad_response', get(`${base}/cut`))
  await failsWith('bad_response', get(`${base}/broken-gzip`))
  await failsWith('bad_response', get(`http://127.0.0.1:${rawPort}/`))
  await failsWith('tls_failed', get(`https://127.0.0.1:${rawPort}/`))
  await failsWith('connect_failed', get('http://one.test:1024/'))
  await failsWith('aborted', get(`${base}/drip`, { signal: AbortSignal.timeout(50) }))
  await failsWith('aborted', get(`${base}/plain`, { signal: AbortSignal.abort() }))
})

test('an unwanted media type is rejected before its body is read', async () => {
  await failsWith('wrong_type', get(`${base}/plain`, { accept: ['application/pdf'] }))
  assert.equal((await get(`${base}/plain`, { accept: ['text/html'] })).contentType, 'text/html')
  assert.equal((await get(`${base}/plain/404`, { accept: ['application/pdf'] })).status, 404)
})
