import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { after, before, test } from 'node:test'
import { type Service, startService } from '../../../../test/start.ts'
import { json } from '../../../platform/db/statements/json.ts'
import { DEMO_AGENT } from './status-page.ts'

let service: Service

before(async () => {
  service = await startService()
})
after(() => service.close())

test('the status page says that the service works and nothing about any account', async () => {
  const { accountId } = await service.account({ name: 'Secret name' })
  const response = await fetch(`${service.url}/status`)
  const html = await response.text()
  assert.equal(response.status, 200)
  assert.match(html, /Working/)
  assert.doesNotMatch(html, new RegExp(`Secret name|${accountId}`))
  assert.match(response.headers.get('content-security-policy') ?? '', /default-src 'self'/)
  assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
})

test('the page says what to do next, and offers the demo agent while it is public', async () => {
  const home = async () => (await fetch(`${service.url}/status`)).text()
  const bare = await home()
  assert.match(bare, /What to do next[\s\S]*keys create[\s\S]*\/agents[\s\S]*\/sources/)
  assert.doesNotMatch(bare, /<iframe/)
  const client = await service.account()
  const agentId = (await client.request('POST', '/agents', { name: 'Demo', visibility: 'public' })).body.id
  const value = json(agentId)
  await service.ctx.db.insertInto('settings').values({ name: DEMO_AGENT, value }).execute()
  assert.match(await home(), new RegExp(`<iframe src="/widget/${agentId}"`))
  const chat = await fetch(`${service.url}/widget/${agentId}`)
  assert.equal(chat.status, 200)
  assert.doesNotMatch(chat.headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/)
  await client.request('PUT', `/agents/${agentId}`, { visibility: 'private' })
  assert.doesNotMatch(await home(), /<iframe/)
})

test('the guide is served, and its links work', async () => {
  const seen = new Set<string>()
  const waiting = ['/docs']
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (seen.has(path)) continue
    seen.add(path)
    const response = await fetch(`${service.url}${path}`)
    assert.equal(response.status, 200, path)
    const html = await response.text()
    for (const [, href = ''] of html.matchAll(/href="([^"]+)"/g)) {
      const { pathname, origin, hash } = new URL(href, `${service.url}${path}`)
      if (origin !== service.url || !pathname.startsWith('/docs')) continue
      waiting.push(pathname)
      if (pathname === path && hash) assert.match(html, new RegExp(`id="${hash.slice(1)}"`), `${path}${hash}`)
    }
  }
  assert.ok(seen.size > 15)
  assert.equal((await fetch(`${service.url}/docs/guide/..%2Fstatus.md`)).status, 404)
})

test('the documentation links to existing files', () => {
  const docs = resolve(import.meta.dirname, '../../../../docs')
  const pages = readdirSync(docs, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.md'),
  )
  for (const page of pages) {
    const path = resolve(docs, page)
    const prose = readFileSync(path, 'utf8').replace(/^```[\s\S]*?^```/gm, '')
    for (const [, link = ''] of prose.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^([a-z]+:|#|\/)/.test(link)) continue
      assert.ok(existsSync(resolve(dirname(path), link.split('#')[0] ?? '')), `${page}: ${link}`)
    }
  }
})

test('the reference and its document are served', async () => {
  const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as {
    openapi: string
    paths: object
  }
  assert.equal(document.openapi, '3.1.0')
  assert.ok('/agents/{agentId}/chat' in document.paths)
  for (const path of ['/reference', '/reference/']) {
    const page = await (await fetch(`${service.url}${path}`)).text()
    const files = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file = '']) => file)
    assert.equal(files.length, 5)
    for (const file of files) {
      // Nothing is loaded from elsewhere.
      assert.match(file, /^\/reference\//)
      assert.equal((await fetch(`${service.url}${file}`)).status, 200, file)
    }
  }
})

test('an unknown address outside the API is 404 in the same format', async () => {
  const response = await fetch(`${service.url}/nowhere`)
  assert.equal(response.status, 404)
  assert.equal(((await response.json()) as { error: { code: string } }).error.code, 'ROUTE_NOT_FOUND')
})
