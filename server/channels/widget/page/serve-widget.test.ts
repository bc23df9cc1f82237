import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { type Client, type Service, startService } from '../../../../test/start.ts'
import { frameAncestors, mayFrame } from './frame-ancestors.ts'

let service: Service
let client: Client
let agentId: string

before(async () => {
  service = await startService()
  client = await service.account()
  agentId = (await client.request('POST', '/agents', { name: 'Lumi <b>', visibility: 'public' })).body.id
})
after(() => service.close())

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${service.url}${path}`, { headers: { 'accept-encoding': 'identity', ...headers } })

const zipped = async (response: Response): Promise<number> =>
  gzipSync(Buffer.from(await response.arrayBuffer()), { level: 9 }).length

test('the script is small, may be embedded on any site, and is revalidated cheaply', async () => {
  const response = await get('/widget.js')
  assert.equal(response.status, 200)
  assert.match(response.headers.get('content-type') ?? '', /javascript/)
  assert.equal(response.headers.get('cross-origin-resource-policy'), 'cross-origin')
  assert.match(response.headers.get('cache-control') ?? '', /max-age=300/)
  assert.ok((await zipped(response)) < 5 * 1024)
  const etag = response.headers.get('etag') ?? ''
  assert.equal((await get('/widget.js', { 'if-none-match': etag })).status, 304)
})

test('the page of the chat allows only its own files, which are immutable', async () => {
  const response = await get(`/widget/${agentId}`)
  const html = await response.text()
  assert.equal(response.status, 200)
  assert.match(html, /<title>Chat with Lumi &lt;b&gt;<\/title>/)
  assert.doesNotMatch(html, /style=|<script>|<style/)
  const policy = response.headers.get('content-security-policy') ?? ''
  assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'; /)
  assert.match(policy, /frame-ancestors \*$/)
  assert.equal(response.headers.get('x-frame-options'), null)
  const paths = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path ?? '')
  assert.equal(paths.length, 2)
  const sizes = await Promise.all(
    paths.map(async (path) => {
      const file = await get(path)
      assert.match(file.headers.get('cache-control') ?? '', /immutable/)
      return zipped(file)
    }),
  )
  assert.ok(sizes.reduce((sum, size) => sum + size, 0) < 60 * 1024)
  assert.equal((await get('/widget-assets/frame.0000000000000000.js')).status, 404)
})

test('files are compressed for clients that accept it', async () => {
  const response = await fetch(`${service.url}/widget.js`, { headers: { 'accept-encoding': 'br, gzip' } })
  assert.equal(response.headers.get('content-encoding'), 'gzip')
  assert.equal(response.headers.get('vary'), 'accept-encoding')
  // fetch has decompressed it.
  assert.equal(await response.text(), await (await get('/widget.js')).text())
})

test('a private or unknown agent results in a readable message', async () => {
  const hidden = (await client.request('POST', '/agents', { name: 'Hidden' })).body.id
  for (const id of [hidden, 'nobody', '%00']) {
    const response = await get(`/widget/${id}`)
    assert.equal(response.status, 404)
    const html = await response.text()
    assert.match(html, /This chat is not available/)
    assert.doesNotMatch(html, /Hidden/)
    assert.equal((await get(`/widget/${id}/launcher.json`)).status, 404)
  }
})

test('during maintenance, the panel says so', async () => {
  await service.ctx.maintenance.set(true)
  try {
    const response = await get(`/widget/${agentId}`)
    assert.equal(response.status, 503)
    assert.match(await response.text(), /under maintenance/)
  } finally {
    await service.ctx.maintenance.set(false)
  }
})

test('sites that may show the chat get the settings of the button', async () => {
  const { id } = (await client.request('POST', '/agents', { name: 'Shop', visibility: 'public' })).body
  await client.request('PUT', `/agents/${id}`, {
    allowedDomains: ['example.com', '*.example.org', 'localhost:3000'],
  })
  const chat = { displayName: 'Ada', buttonColor: '#7c3aed', alignChatButton: 'left' }
  await client.request('PUT', `/agents/${id}/styles`, { styles: { chat } })
  const path = `/widget/${id}/launcher.json?languages=xx,de-CH,en`
  const answer = await get(path, { origin: 'https://example.com' })
  assert.equal(answer.headers.get('access-control-allow-origin'), '*')
  const { words, color, textColor, align, icon, autoOpenAfter } = (await answer.json()) as Record<
    string,
    unknown
  >
  assert.deepEqual(
    [words, color, textColor, align, icon, autoOpenAfter],
    [
      {
        open: 'Chat mit Ada',
        unread: 'Chat mit Ada, neue Nachricht',
        close: 'Chat schließen',
        loading: 'Chat wird geladen …',
      },
      '#7c3aed',
      '#ffffff',
      'left',
      null,
      null,
    ],
  )
  const plain = await get(path.replace(/=.*/, `=${'x,'.repeat(500)}__proto__`), {
    origin: 'https://example.com',
  })
  assert.equal(((await plain.json()) as { words: { open: string } }).words.open, 'Chat with Ada')
  assert.equal((await get(path, { origin: 'https://evil.example' })).status, 404)
  const policy = (await get(`/widget/${id}`)).headers.get('content-security-policy') ?? ''
  assert.match(
    policy,
    /frame-ancestors 'self' https:\/\/example\.com http:\/\/example\.com https:\/\/\*\.example\.com /,
  )
})

test('only allowed sites can frame the chat', () => {
  const domains = ['Example.com', '*.example.org', 'localhost:3000', '10.0.0.1:8080']
  const allowed = [
    'https://example.com',
    'http://www.example.com',
    'https://a.b.example.org',
    'http://localhost:3000',
    'http://10.0.0.1:8080',
  ]
  const refused = [
    'https://example.org',
    'https://notexample.com',
    'https://example.com.evil.example',
    'http://localhost',
    'null',
    'file://',
    'https://example.com:444',
  ]
  for (const origin of allowed) assert.equal(mayFrame(origin, domains), true, origin)
  for (const origin of refused) assert.equal(mayFrame(origin, domains), false, origin)
  assert.equal(mayFrame('https://anywhere.example', null), true)
  assert.equal(mayFrame('https://anywhere.example', []), false)
  assert.equal(frameAncestors([]), "'self'")
  assert.equal(frameAncestors(['10.0.0.1:8080']), "'self' https://10.0.0.1:8080 http://10.0.0.1:8080")
})
