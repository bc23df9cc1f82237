import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { startBesideWebsite, type Websites } from '../../../../test/beside-website.ts'
import { onPostgres } from '../../../../test/database.ts'
import { page, type Reply } from '../../../../test/fakes/web-site.ts'
import { startService } from '../../../../test/start.ts'
import { until } from '../../../../test/until.ts'
import { websites } from '../../../../test/websites.ts'

const { site, newAgent, close } = await startBesideWebsite()
let web: Websites

beforeEach(async () => {
  ;({ web } = await newAgent())
})
after(close)

/** Answers a path only when the returned function is called. */
function hold(path: string, { body = '' }: Reply): () => void {
  const gate = Promise.withResolvers<void>()
  site.pages.set(path, (_request, response) => {
    void gate.promise.then(() => response.writeHead(200, { 'content-type': 'text/html' }).end(body))
    return undefined
  })
  return gate.resolve
}

test('on a first crawl each page answers while others are still to be read', async () => {
  site.pages.set('/', page('Home', 'The marker alderbrook.', ['/b', '/late']))
  site.pages.set('/b', page('B', 'The marker bellhaven.'))
  const release = hold('/late', page('Late', 'The marker crowmarsh.'))
  const id = await web.add(site.url)
  await until('the first pages', async () => (await web.finds('alderbrook')) && web.finds('bellhaven'))
  const during = await web.read(id)
  assert.deepEqual([during.status, during.metadata.crawlStatus], ['untrained', 'fetching'])
  assert.deepEqual(during.metadata.children, { included: 2, excluded: 0, failed: 0 })
  assert.equal(during.metadata.waiting, 1)
  assert.equal(await web.finds('crowmarsh'), false)
  release()
  const done = await web.settled(id)
  assert.deepEqual([done.status, done.metadata.children.included], ['trained', 3])
  assert.equal('waiting' in done.metadata, false)
  assert.ok(await web.finds('crowmarsh'))
})

test('on a later crawl a page replaces itself, and what has vanished stays until all is read', async () => {
  site.pages.set('/', page('Home', 'The marker dunholme.', ['/news', '/gone', '/lost', '/late']))
  site.pages.set('/news', page('News', 'The marker eastwell.'))
  site.pages.set('/gone', page('Gone', 'The marker farleigh.'))
  site.pages.set('/lost', page('Lost', 'The marker garsdale.'))
  site.pages.set('/late', page('Late', 'The marker haxby.'))
  const { id } = await web.crawled(site.url)
  site.pages.set('/', page('Home', 'The marker dunholme.', ['/news', '/gone', '/late']))
  site.pages.set('/news', page('News', 'The marker ilkeston.'))
  site.pages.set('/gone', { status: 404 })
  const release = hold('/late', page('Late', 'The marker jarrowby.'))
  const ending = web.again(id)
  await until('the page that has changed', () => web.finds('ilkeston'))
  await until('the page that is gone', async () => (await web.pages(id)).get('/gone')?.status === 'failed')
  const during = { dunholme: true, eastwell: false, farleigh: true, garsdale: true, haxby: true }
  for (const [marker, expected] of Object.entries(during))
    assert.equal(await web.finds(marker), expected, marker)
  release()
  const done = await ending
  assert.deepEqual(done.metadata.children, { included: 3, excluded: 0, failed: 1 })
  const after = { ilkeston: true, farleigh: false, garsdale: false, haxby: false, jarrowby: true }
  for (const [marker, expected] of Object.entries(after))
    assert.equal(await web.finds(marker), expected, marker)
})

test('a crawl goes on when its process has ended, and its pages answer meanwhile', {
  skip: !onPostgres(),
}, async (t) => {
  const env = { ALLOWED_PRIVATE_HOSTS: site.host }
  const reader = await startService(env, undefined, { idle: true })
  const client = await reader.account()
  const { body } = await client.request('POST', '/agents', { name: 'Agent' })
  const own = websites(reader, client, body.id)
  site.pages.set('/', page('Home', 'The marker kirkstall.', ['/late']))
  hold('/late', page('Late', 'Never sent.'))
  const first = await startService(env, reader)
  const id = await own.add(site.url)
  await until('the first page', () => own.finds('kirkstall'))
  await first.ctx.jobs.close(0)
  await first.close()
  assert.ok(await own.finds('kirkstall'))
  site.pages.set('/late', page('Late', 'The marker lastingham.'))
  const second = await startService(env, reader)
  t.after(async () => {
    await second.close()
    await reader.close()
  })
  assert.deepEqual((await own.settled(id)).metadata.children, { included: 2, excluded: 0, failed: 0 })
  assert.ok(await own.finds('lastingham'))
})
