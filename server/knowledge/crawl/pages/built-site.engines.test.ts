import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type BesideWebsite, startBesideWebsite, type Websites } from '../../../../test/beside-website.ts'
import { page, redirect, type WebSite } from '../../../../test/fakes/web-site.ts'
import { findBrowser } from '../../../../test/find-browser.ts'
import type { Client } from '../../../../test/start.ts'

const browserPath = findBrowser()
const skip = browserPath ? false : 'No Chromium was found: install it, or set CHROMIUM_PATH, to render pages.'

const app = {
  headers: { 'content-type': 'text/javascript' },
  body: `fetch('/data' + location.pathname).then((answer) => answer.json()).then(({ title, text, links }) => {
    document.title = title
    document.getElementById('app').innerHTML = '<h1>' + title + '</h1><p>' + text + '</p>' +
      links.map((link) => '<a href="' + link + '">' + link + '</a>').join(' ')
  })`,
}
const shell = {
  headers: { etag: '"always-the-same"' },
  body: '<!doctype html><html><head><title>App</title></head><body><div id="app"></div><script src="/app.js"></script></body></html>',
}
const data = (title: string, text: string, links: string[] = []) => ({
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ title, text, links }),
})

// The option is set on each test, so that each is counted as skipped.
describe('websites whose text is created by scripts', () => {
  let beside: BesideWebsite | undefined
  let site: WebSite
  let client: Client
  let web: Websites

  before(async () => {
    if (skip) return
    beside = await startBesideWebsite({ BROWSER_PATH: browserPath ?? '' })
    site = beside.site
    ;({ client, web } = await beside.newAgent())
    site.pages.set('/app.js', app)
  })
  after(() => beside?.close())

  test('pages are found through text and links created by scripts', {
    skip,
  }, async () => {
    site.pages.set('/robots.txt', { body: 'User-agent: *\nDisallow: /private' })
    site.pages.set('/docs', shell)
    site.pages.set('/docs/parcels', shell)
    site.pages.set(
      '/data/docs',
      data('Home', 'The marker aldermoor.', ['/docs/parcels', '/docs/plain', '/docs/trap']),
    )
    site.pages.set(
      '/data/docs/parcels',
      data('Parcels', 'A parcel comes back within forty days.', ['/private/x']),
    )
    site.pages.set('/docs/plain', page('Plain', `${'This page needs no browser. '.repeat(10)}`))
    site.pages.set('/docs/trap', {
      body: `<div id="app"></div><script>fetch('/to-inside').then((a) => a.text()).then((t) => { document.body.append(t) })</script>`,
    })
    site.pages.set('/to-inside', redirect('http://169.254.169.254/latest/meta-data/'))

    const source = await web.crawled(`${site.url}/docs`)
    assert.deepEqual([source.status, source.error], ['trained', null])
    const pages = await web.pages(source.id)
    assert.deepEqual(Object.fromEntries([...pages].map(([path, { status }]) => [path, status])), {
      '/docs': 'included',
      '/docs/parcels': 'included',
      '/docs/plain': 'included',
      '/docs/trap': 'failed',
    })
    assert.match(pages.get('/docs/trap')?.error ?? '', /no text, even after its scripts/)
    const answer = await web.ask('Within how many days does a parcel come back?')
    assert.match(answer.text, /forty days/)
    assert.deepEqual(
      [answer.sources[0]?.name, answer.sources[0]?.url],
      ['Parcels', `${site.url}/docs/parcels`],
    )
    // The browser is given what the crawler has fetched.
    assert.equal(site.asked.filter((path) => path === '/docs/parcels').length, 1)
    assert.ok(!site.asked.includes('/private/x') && !site.asked.includes('/data/docs/plain'))

    site.pages.set('/data/docs/parcels', data('Parcels', 'A parcel comes back within fifty days.'))
    await web.again(source.id)
    assert.match((await web.ask('Within how many days does a parcel come back?')).text, /fifty days/)
  })

  test('a single page is read in the same way', { skip }, async () => {
    site.pages.set('/opening', shell)
    site.pages.set('/data/opening', data('Opening', 'The marker brackenridge: open from nine to five.'))
    const link = { type: 'link', linkType: 'individual', url: `${site.url}/opening` }
    const { body } = await client.request('POST', web.path, link)
    assert.equal((await web.settled(body.id)).status, 'trained')
    assert.ok(await web.finds('brackenridge'))
  })
})
