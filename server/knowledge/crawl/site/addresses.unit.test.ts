import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { pageLinks } from '../pages/page-links.ts'
import { scanTags } from '../pages/scan-tags.ts'
import { parseSitemap } from './parse-sitemap.ts'
import { isInSite, pageUrl, siteOf } from './site.ts'

test('a crawl stays on its host and below its path', () => {
  const cases: [string, string, boolean][] = [
    ['https://example.com/', 'https://example.com/a/b?c', true],
    ['https://example.com/', 'https://www.example.com/a', true],
    ['https://www.example.com/', 'http://example.com/a', true],
    ['https://example.com/', 'https://shop.example.com/', false],
    ['https://example.com/', 'https://example.com.evil.test/', false],
    ['https://example.com/', 'https://example.com:8443/', false],
    ['https://example.com/docs', 'https://example.com/docs', true],
    ['https://example.com/docs', 'https://example.com/docs/a', true],
    ['https://example.com/docs/', 'https://example.com/docs/a', true],
    ['https://example.com/docs/', 'https://example.com/docs', true],
    ['https://example.com/docs', 'https://example.com/docs-old', false],
    ['https://example.com/docs/index.html', 'https://example.com/docs/a.html', true],
    ['https://example.com/docs/index.html', 'https://example.com/', false],
  ]
  for (const [start, url, expected] of cases)
    assert.equal(isInSite(siteOf(new URL(start), 'crawl'), new URL(url)), expected, `${start} ${url}`)
  assert.ok(
    isInSite(
      siteOf(new URL('https://example.com/a/sitemap.xml'), 'sitemap'),
      new URL('https://example.com/b'),
    ),
  )
})

test('an address has one form, and non-pages have none', () => {
  const of = (link: string) => pageUrl(link, 'https://example.com/docs/')?.href ?? null
  assert.equal(of('../a?utm_source=x&b=1&gclid=2#top'), 'https://example.com/a?b=1')
  assert.equal(of('//example.com:443/a'), 'https://example.com/a')
  for (const link of [
    'mailto:a@example.com',
    'javascript:alert(1)',
    'data:text/html,x',
    'https://u:p@example.com/',
    '/logo.PNG',
    '/app.js?v=2',
    `/${'x'.repeat(3_000)}`,
    'http://[bad',
  ])
    assert.equal(of(link), null, link)
})

test('links are read from the tags of a page and not from its text', async () => {
  const html = `<base href="/docs/"><!-- <a href="/comment"> --><script>"<a href='/script'>"</script>
    <a class=x HREF='a&amp;b'>1</a><a href=b>2</a><area href="/c"><a name="d">3</a><style><a href="/style"></style>
    <link rel="stylesheet" href="/e"><link rel="Canonical" href="/f"><meta http-equiv="refresh" content="0; url=/g">
    <a href="b#again">4</a><a href="`
  const { links, canonical } = await pageLinks(html, 'https://example.com/')
  assert.deepEqual(
    links.map(({ pathname }) => pathname),
    ['/docs/a&b', '/docs/b', '/c', '/g'],
  )
  assert.equal(canonical?.pathname, '/f')
})

test('no page breaks the parsing of tags, which takes linear time', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('<', '>', 'a', ' ', '"', "'", '=', '/', '!--', 'script', '&#x')),
      (parts) => {
        for (const { name } of scanTags(parts.join(''))) assert.notEqual(name, '')
      },
    ),
  )
  for (const piece of ['<a href="', '<a ', '<!--', '<script>', '<a b=\'"', '<', '<a href=x '])
    for (const { name } of scanTags(piece.repeat(50_000))) assert.match(name, /^(a|script)/)
})

test('sitemaps with pages, indexes and text are read, and others are rejected', () => {
  const urlset = `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "b">]><s:urlset xmlns:s="http://www.sitemaps.org/schemas/sitemap/0.9">
    <!-- <s:loc>https://example.com/comment</s:loc> -->
    <s:url><s:loc> https://example.com/a?b=1&amp;c=2 </s:loc><image:image><image:loc>https://example.com/i.png</image:loc></image:image></s:url>
    <s:url><s:loc><![CDATA[https://example.com/b]]></s:loc><s:lastmod>2026-01-01</s:lastmod></s:url></s:urlset>`
  assert.deepEqual(parseSitemap(urlset, 10), {
    kind: 'pages',
    urls: ['https://example.com/a?b=1&c=2', 'https://example.com/b'],
  })
  assert.equal(parseSitemap(urlset, 1)?.urls.length, 1)
  const index = '<sitemapindex><sitemap><loc>https://example.com/1.xml</loc></sitemap></sitemapindex>'
  assert.deepEqual(parseSitemap(index, 10), { kind: 'sitemaps', urls: ['https://example.com/1.xml'] })
  assert.deepEqual(parseSitemap('https://example.com/a\r\n\nhttps://example.com/b\n', 10)?.urls.length, 2)
  assert.equal(parseSitemap('<html><body>Not found</body></html>', 10), null)
  assert.deepEqual(parseSitemap(`<urlset>${'<loc>'.repeat(100_000)}`, 10)?.urls, [])
})
