import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startWebSite, type WebSite } from '../../../../test/fakes/web-site.ts'
import { createGuardedFetcher, type GuardedFetcher } from '../guard/guarded-fetcher.ts'
import { hasConsent, isReadable, needsConsent } from './cross-origin.ts'

const origin = 'https://shop.example'
const options = { timeoutMs: 5_000, signal: new AbortController().signal }
let site: WebSite
let fetcher: GuardedFetcher

before(async () => {
  site = await startWebSite()
  fetcher = createGuardedFetcher({ allowedPrivateHosts: [site.host], userAgent: 'test' })
})
after(async () => {
  await fetcher.close()
  await site.close()
})

test('a page can read responses of its own origin and of those that permit it, and scripts', () => {
  const readable = (url: string, allowed: string | null, isScript = false, contentType = 'text/html') => {
    const headers: Record<string, string> = allowed === null ? {} : { 'access-control-allow-origin': allowed }
    return isReadable(origin, isScript, { url, headers, contentType })
  }
  assert.ok(readable('https://shop.example/x', null))
  assert.ok(readable('https://api.example/x', '*'))
  assert.ok(readable('https://api.example/x', origin))
  assert.ok(readable('https://cdn.example/x.js', null, true, 'text/javascript'))
  for (const allowed of [null, 'null', 'https://other.example', `${origin}.evil.example`, ''])
    assert.ok(!readable('https://api.example/x', allowed))
  assert.ok(!readable('http://shop.example/x', null), 'another scheme is another origin')
  assert.ok(!readable('https://cdn.example/x', null, true, 'text/html'))
  assert.ok(!readable('https://cdn.example/x.js', null, false, 'text/javascript'))
})

test('requests that need a preflight are only sent where they are permitted', async () => {
  const url = new URL(`${site.url}/api`)
  const request = (headers: Record<string, string>, method = 'POST') => ({ url, method, headers })
  const json = { 'content-type': 'application/json', origin, referer: origin }
  assert.equal(needsConsent(origin, request({ accept: '*/*', origin })), false)
  assert.equal(needsConsent(origin, request({ 'content-type': 'text/plain;charset=UTF-8' })), false)
  assert.equal(needsConsent(site.url, request(json)), false)
  assert.equal(needsConsent(origin, request(json)), true)
  assert.equal(needsConsent(origin, request({ authorization: 'x' }, 'GET')), true)

  const cases: [Record<string, string>, boolean][] = [
    [{}, false],
    [{ 'access-control-allow-origin': '*' }, false],
    [{ 'access-control-allow-origin': '*', 'access-control-allow-headers': 'X-Key' }, false],
    [{ 'access-control-allow-headers': '*' }, false],
    [{ 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' }, true],
    [{ 'access-control-allow-origin': origin, 'access-control-allow-headers': 'X-Key, Content-Type' }, true],
  ]
  for (const [headers, allowed] of cases) {
    let asked: Record<string, unknown> = {}
    site.pages.set('/api', (got) => {
      asked = { ...got.headers, method: got.method }
      return { status: 204, headers }
    })
    const sent = request({ ...json, 'x-key': 'k' })
    assert.equal(await hasConsent(fetcher, origin, sent, options), allowed, JSON.stringify(headers))
    assert.deepEqual(
      [asked.method, asked['access-control-request-method'], asked['access-control-request-headers']],
      ['OPTIONS', 'POST', 'content-type,x-key'],
    )
    assert.equal(asked['x-key'], undefined)
  }
  site.pages.set('/api', {
    headers: { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' },
  })
  assert.equal(await hasConsent(fetcher, origin, request({ authorization: 'x' }, 'GET'), options), false)
})
