import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { startBesideWebsite, type Websites } from '../../../../test/beside-website.ts'
import { page, redirect } from '../../../../test/fakes/web-site.ts'
import { websites } from '../../../../test/websites.ts'

const { service, site, newAgent, close } = await startBesideWebsite()
let web: Websites

beforeEach(async () => {
  ;({ web } = await newAgent())
})
after(close)

const urlset = (paths: string[]): string =>
  `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${paths
    .map((path) => `<url><loc>${URL.canParse(path) ? path : site.url + path}</loc></url>`)
    .join('')}</urlset>`

const index = (paths: string[]): string =>
  `<sitemapindex>${paths.map((path) => `<sitemap><loc>${site.url}${path}</loc></sitemap>`).join('')}</sitemapindex>`

test('only the pages listed in a sitemap, and their redirect targets, are read', async () => {
  site.pages.set('/map/index.xml', { body: index(['/map/1.xml.gz', '/map/2.txt']) })
  site.pages.set('/map/1.xml.gz', {
    headers: { 'content-type': 'application/gzip' },
    body: gzipSync(urlset(['/a', '/old', 'https://example.com/foreign', '/pages/b?x=1&amp;y=2'])),
  })
  site.pages.set('/map/2.txt', {
    headers: { 'content-type': 'text/plain' },
    body: `${site.url}/c\n${site.url}/a\n`,
  })
  site.pages.set('/a', page('A', 'The marker abbotsley.', ['/unnamed']))
  site.pages.set('/old', redirect('/new'))
  site.pages.set('/new', page('New', 'The marker brambledown.'))
  site.pages.set('/pages/b?x=1&y=2', page('B', 'The marker cranleigh.'))
  site.pages.set('/c', page('C', 'The marker dovecote.'))
  const source = await web.crawled(`${site.url}/map/index.xml`, { linkType: 'sitemap' })
  assert.deepEqual([source.status, source.metadata.type], ['trained', 'sitemap'])
  const pages = await web.pages(source.id)
  assert.deepEqual([...pages.keys()].sort(), ['/a', '/c', '/new', '/old', '/pages/b?x=1&y=2'])
  assert.deepEqual(source.metadata.children, { included: 4, excluded: 1, failed: 0 })
  assert.ok(await web.finds('cranleigh'))
})

test('a page missing from its sitemap is removed, but not because part of the sitemap is unreadable', async () => {
  site.pages.set('/sitemap.xml', { body: index(['/1.xml', '/2.xml']) })
  site.pages.set('/1.xml', { body: urlset(['/a', '/b']) })
  site.pages.set('/2.xml', { body: urlset(['/c']) })
  for (const name of ['a', 'b', 'c']) site.pages.set(`/${name}`, page(name, `The marker easterfield${name}.`))
  const { id } = await web.crawled(`${site.url}/sitemap.xml`, { linkType: 'sitemap' })
  site.pages.set('/2.xml', { status: 500 })
  assert.equal((await web.again(id)).metadata.children.included, 3)
  assert.ok(await web.finds('easterfieldc'))
  site.pages.set('/2.xml', { body: urlset([]) })
  assert.equal((await web.again(id)).metadata.children.included, 2)
  assert.equal(await web.finds('easterfieldc'), false)
})

test('a crawl can become a sitemap and stays in use until that is read', async () => {
  const client = await service.account()
  const agent = (await client.request('POST', '/agents', { name: 'Agent' })).body.id
  const mine = websites(service, client, agent)
  site.pages.set('/map.xml', page('Map', 'The marker fennimore.', ['/map.xml/b']))
  site.pages.set('/map.xml/b', page('B', 'The marker gaddesden.'))
  site.pages.set('/c', page('C', 'The marker hattonfield.'))
  const { id, name } = await mine.crawled(`${site.url}/map.xml`)
  const put = (body: object) => client.request('PUT', `${mine.path}/${id}`, body)
  assert.equal((await put({ linkType: 'crawl' })).body.status, 'trained')
  const refused = await put({ linkType: 'individual' })
  assert.match(refused.body.error.details.linkType, /cannot become a single page/)

  // The page is not a sitemap, so the live version stays.
  const switched = await put({ linkType: 'sitemap', slowScraping: true })
  const { type, crawlStatus, slowScraping } = switched.body.metadata
  assert.deepEqual(
    [switched.body.status, type, crawlStatus, slowScraping],
    ['updated', 'sitemap', 'fetching', true],
  )
  assert.ok(await mine.finds('gaddesden'))
  assert.equal((await mine.settled(id)).status, 'failed')
  assert.ok(await mine.finds('gaddesden'))

  site.pages.set('/map.xml', { body: urlset(['/c']) })
  assert.equal((await put({ slowScraping: false })).body.status, 'updated')
  const after = await mine.settled(id)
  assert.deepEqual([after.status, after.name, after.metadata.children.included], ['trained', name, 1])
  assert.deepEqual([await mine.finds('hattonfield'), await mine.finds('gaddesden')], [true, false])

  // Another source has this URL and type already.
  await mine.add(`${site.url}/map.xml`)
  const taken = await put({ linkType: 'crawl' })
  assert.deepEqual([taken.status, taken.body.error.code], [409, 'SOURCE_DUPLICATE'])
  assert.equal((await mine.read(id)).metadata.type, 'sitemap')
})

test('an invalid sitemap fails with a readable sentence', async () => {
  const cases: [string, { status?: number; body?: string | Uint8Array }, RegExp][] = [
    ['/1', { status: 404 }, /404/],
    ['/2', { body: '<html><body>Hello</body></html>' }, /not a sitemap/],
    ['/3', { body: urlset([]) }, /lists no page/],
    ['/4', { body: urlset(['https://example.com/']) }, /own website/],
    ['/5', { body: gzipSync(Buffer.alloc(30 * 1_048_576, 32)) }, /larger/],
    ['/6', { body: Buffer.from([0x1f, 0x8b, 1, 2, 3]) }, /damaged/],
    ['/7', { body: index(['/7', '/1']) }, /index inside an index|404/],
  ]
  for (const [path, reply] of cases) site.pages.set(path, reply)
  for (const [path, , reason] of cases) {
    const source = await web.crawled(site.url + path, { linkType: 'sitemap' })
    assert.equal(source.status, 'failed', path)
    assert.match(source.error, reason, path)
  }
})
