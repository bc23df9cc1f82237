import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { page, redirect, startWebSite, type WebSite } from '../../../../test/fakes/web-site.ts'
import { createGuardedFetcher, type GuardedFetcher } from '../../../platform/fetch/guard/guarded-fetcher.ts'
import { createExtractor } from '../../documents/extractor.ts'
import { createOcr } from '../../ocr/ocr.ts'
import type { CrawlRun } from '../run/crawl-run.ts'
import { createRobotsCache } from '../site/load-robots.ts'
import { pathRules } from '../site/path-rules.ts'
import { siteOf } from '../site/site.ts'
import type { PageOutcome } from './page-outcome.ts'
import type { PageRow } from './page-row.ts'
import { readPage } from './read-page.ts'

const MB = 1_048_576
const { signal } = new AbortController()
const extractor = createExtractor()
const ocr = createOcr({ folder: '/none', maxPages: 1 })
let site: WebSite
let fetcher: GuardedFetcher

before(async () => {
  site = await startWebSite()
  fetcher = createGuardedFetcher({ allowedPrivateHosts: [site.host], userAgent: 'test' })
})
after(async () => {
  await extractor.close()
  await ocr.close()
  await fetcher.close()
  await site.close()
})

async function read(url: string, through = fetcher, limits = {}, number = 3): Promise<PageOutcome> {
  const start = new URL(url)
  const rules = pathRules({ excludePaths: [], includeOnlyPaths: [] })
  const account = { id: 'account' }
  const run = {
    account,
    start,
    site: siteOf(new URL('/', start), 'crawl'),
    rules,
    sent: new Map(),
  } as CrawlRun
  const row = { url, number, status: 'pending', changed_in: 0 } as PageRow
  const robots = createRobotsCache({ fetcher: through }, signal)
  // A busy machine may need long, so the tests of time limits set their own.
  const all = { maxBytes: MB, timeoutMs: 120_000, idleTimeoutMs: 120_000, ...limits }
  return readPage({ fetcher: through, renderer: null, extractor, ocr }, run, row, robots, signal, all)
}

async function fails(path: string, reason: RegExp, limits = {}): Promise<void> {
  const outcome = await read(site.url + path, fetcher, limits)
  assert.equal(outcome.kind, 'failed', path)
  assert.match('reason' in outcome ? outcome.reason : '', reason, path)
}

const textOf = (outcome: PageOutcome): string =>
  outcome.kind === 'content' ? outcome.content.chunks.map(({ text }) => text).join('\n') : outcome.kind

test('the footer of a website is kept on its first page alone', async () => {
  const body = '<main><h1>Lamps</h1><p>They shine.</p></main><footer><p>Call 01 555 12 34.</p></footer>'
  site.pages.set('/lamps', { body })
  site.pages.set('/de', { body })
  assert.equal(textOf(await read(`${site.url}/lamps`)), 'They shine.')
  assert.equal(textOf(await read(`${site.url}/lamps`, fetcher, {}, 1)), 'They shine.\nCall 01 555 12 34.')
  assert.equal(textOf(await read(`${site.url}/de`)), 'They shine.\nCall 01 555 12 34.')
})

test('endless, oversized and slow bodies fail with a clear reason', async () => {
  site.pages.set('/endless', (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' })
    const more = (): void => {
      while (response.write('<p>more and more</p>'.repeat(1_000))) {}
      response.once('drain', more)
    }
    more()
    return undefined
  })
  site.pages.set('/announced', {
    headers: { 'content-length': String(10_000 * MB) },
    body: 'x',
  })
  site.pages.set('/bomb', {
    headers: { 'content-encoding': 'gzip' },
    body: gzipSync(Buffer.alloc(200 * MB, 'a')),
  })
  site.pages.set('/drip', (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' })
    const dripping = setInterval(() => response.write('x'), 20)
    response.on('close', () => clearInterval(dripping))
    return undefined
  })
  site.pages.set('/silent', () => undefined)
  await fails('/endless', /larger than the 1 MB/)
  await fails('/announced', /larger than the 1 MB/)
  await fails('/bomb', /larger than the 1 MB/)
  await fails('/drip', /longer than 0.5 s/, { timeoutMs: 500 })
  await fails('/silent', /did not answer in time|longer than/, { timeoutMs: 500 })
})

test('internal addresses cannot be reached in any notation, nor by redirects', async () => {
  const targets = [
    'http://169.254.169.254/latest/meta-data/',
    'http://2852039166/',
    'http://0xa9fea9fe/',
    'http://0xa9.0xfe.0xa9.0xfe/',
    'http://0251.0376.0251.0376/',
    'http://025177524776/',
    'http://169.254.43518/',
    'http://169.16689662/',
    'http://169.254.169.254./',
    'http://[::ffff:169.254.169.254]/',
    'http://[::ffff:a9fe:a9fe]/',
    'http://[64:ff9b::a9fe:a9fe]/',
    'http://[fd00:ec2::254]/',
    'http://①⑥⑨.②⑤④.①⑥⑨.②⑤④/',
    `http://localhost:${new URL(site.url).port}/secret`,
    'http://127.1/',
    'http://0/',
    'http://user@169.254.169.254/',
    'file:///etc/passwd',
    'gopher://127.0.0.1:6379/_FLUSHALL',
  ]
  for (const [index, target] of targets.entries()) {
    site.pages.set(`/to${index}`, redirect(target))
    await fails(`/to${index}`, /not on the public internet|must begin with http|must not contain a user/)
    const url = URL.parse(target)
    if (!url || !/^http/.test(url.protocol)) continue
    const direct = await read(target)
    assert.match(
      'reason' in direct ? direct.reason : '',
      /not on the public internet|must not contain a user/,
      target,
    )
  }
  assert.ok(!site.asked.includes('/secret'))
})

test('a name whose address changes between two lookups leads nowhere', async () => {
  let looks = 0
  const rebinding = createGuardedFetcher({
    allowedPrivateHosts: [],
    userAgent: 'test',
    // The first lookup returns a public address and an internal one, later ones only the internal one.
    resolve: async () => {
      looks += 1
      const inner = { address: '127.0.0.1', family: 4 }
      return looks === 1 ? [{ address: '93.184.216.34', family: 4 }, inner] : [inner]
    },
  })
  const before = site.asked.length
  for (let i = 0; i < 3; i++) {
    const outcome = await read(`http://rebind.test:${new URL(site.url).port}/secret`, rebinding)
    assert.match('reason' in outcome ? outcome.reason : '', /not on the public internet/)
  }
  assert.ok(looks >= 3)
  assert.equal(site.asked.length, before)
  await rebinding.close()
})

test('redirect loops and endless redirects are detected', async () => {
  site.pages.set('/circle', redirect('/circle2'))
  site.pages.set('/circle2', redirect('/circle'))
  for (let i = 0; i < 10; i++) site.pages.set(`/hop${i}`, redirect(`/hop${i + 1}`, 301))
  await fails('/circle', /redirects in a loop/)
  await fails('/hop0', /redirects too many times/)
})

test('a wrong or unknown charset does not damage the text', async () => {
  const html = (text: string) =>
    `<html><body><main><p>${text} is the word that this page is about.</p></main></body></html>`
  const cases: [string, Uint8Array][] = [
    ['text/html; charset=iso-8859-1', Buffer.from(html('Grüße'))],
    ['text/html; charset=nonsense', Buffer.from(html('Grüße'))],
    ['text/html', Buffer.from(html('Grüße'), 'latin1')],
    ['text/html', Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(html('Grüße'), 'utf16le')])],
  ]
  for (const [index, [type, body]] of cases.entries()) {
    site.pages.set(`/charset${index}`, { headers: { 'content-type': type }, body })
    assert.match(textOf(await read(`${site.url}/charset${index}`)), /Grüße is the word/, type)
  }
  site.pages.set('/zeros', { body: Buffer.alloc(5_000) })
  assert.match((await read(`${site.url}/zeros`)).kind, /failed|content/)
})

test('only the text of a page is read, and nothing that it embeds is fetched', async () => {
  const inner = 'http://169.254.169.254/'
  const head = `<link rel="stylesheet" href="/style.css"><script src="/script.js"></script>`
  site.pages.set(
    '/',
    page('Home', `<img src="/i.png"><iframe src="/frame"></iframe> Text here.`, [inner], head),
  )
  const before = site.asked.length
  assert.match(textOf(await read(`${site.url}/`)), /Text here/)
  assert.deepEqual(site.asked.slice(before), ['/robots.txt', '/'])
})
