import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { startBesideWebsite, type Websites } from '../../../../test/beside-website.ts'
import { page } from '../../../../test/fakes/web-site.ts'
import type { Client } from '../../../../test/start.ts'

const { site, newAgent, close } = await startBesideWebsite()
let client: Client
let web: Websites

beforeEach(async () => {
  ;({ client, web } = await newAgent())
})
after(close)

test('an excluded page disappears from answers and stays excluded; once included again, it is used at once', async () => {
  site.pages.set('/', page('Home', 'The marker harkenfield.', ['/b']))
  site.pages.set('/b', page('B', 'The marker ivyholme.', ['/c']))
  site.pages.set('/c', page('C', 'The marker jadebrook.'))
  const { id, size } = await web.crawled(site.url)
  const { id: pageId } = (await web.pages(id)).get('/b')!
  const path = `${web.path}/${id}/pages/${pageId}`
  assert.ok(await web.finds('ivyholme'))
  const excluded = await client.request('PATCH', path, { excluded: true })
  assert.deepEqual([excluded.status, excluded.body.status, excluded.body.size], [200, 'excluded', 0])
  assert.equal(await web.finds('ivyholme'), false)
  const source = await web.read(id)
  assert.deepEqual(source.metadata.children, { included: 2, excluded: 1, failed: 0 })
  assert.ok(source.size < size)
  const count = site.asked.filter((asked) => asked === '/b').length
  const crawled = await web.again(id)
  assert.deepEqual(crawled.metadata.children, { included: 2, excluded: 1, failed: 0 })
  assert.equal(crawled.size, source.size)
  assert.equal(site.asked.filter((asked) => asked === '/b').length, count)
  assert.deepEqual([await web.finds('ivyholme'), await web.finds('jadebrook')], [false, true])
  const listed = await client.request('GET', `${web.path}/${id}/pages?status=excluded`)
  assert.deepEqual([listed.body.pagination.total, listed.body.data[0].error], [1, 'Excluded by hand.'])
  const included = await client.request('PATCH', path, { excluded: false })
  assert.deepEqual([included.status, included.body.status], [200, 'included'])
  assert.ok(await web.finds('ivyholme'))
  assert.equal((await web.read(id)).size, size)
})

test('a page that was excluded before it was read is read once it is included', async () => {
  site.pages.set('/', page('Home', 'The marker kingsmere.', ['/b']))
  site.pages.set('/b', page('B', 'The marker larkspire.'))
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  site.pages.set('/slow', (_request, response) => {
    held.then(() =>
      response.writeHead(200, { 'content-type': 'text/html' }).end('<p>The marker moorgate is slow.</p>'),
    )
    return undefined
  })
  site.pages.set('/robots.txt', { body: 'User-agent: *\nCrawl-delay: 0.2' })
  site.pages.set('/', page('Home', 'The marker kingsmere.', ['/slow', '/b']))
  const id = await web.add(site.url)
  while ((await web.pages(id)).size < 3) await wait(20)
  const pending = (await web.pages(id)).get('/b')!
  assert.equal(pending.status, 'pending')
  await client.request('PATCH', `${web.path}/${id}/pages/${pending.id}`, { excluded: true })
  release()
  assert.deepEqual((await web.settled(id)).metadata.children, { included: 2, excluded: 1, failed: 0 })
  const shown = await client.request('PATCH', `${web.path}/${id}/pages/${pending.id}`, { excluded: false })
  assert.equal(shown.body.status, 'pending')
  assert.equal((await web.read(id)).status, 'updated')
  assert.equal((await web.settled(id)).metadata.children.included, 3)
  assert.ok(await web.finds('larkspire'))
})
