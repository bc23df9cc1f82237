import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { startBesideWebsite, type Websites } from '../../../../test/beside-website.ts'
import { page, type Reply } from '../../../../test/fakes/web-site.ts'
import type { Client } from '../../../../test/start.ts'
import { until } from '../../../../test/until.ts'
import { websites } from '../../../../test/websites.ts'

const { service, site, newAgent, close } = await startBesideWebsite()
let client: Client
let web: Websites

beforeEach(async () => {
  ;({ client, web } = await newAgent())
})
after(close)

const tagged = (reply: Reply, etag: string): Reply => ({ ...reply, headers: { etag: `"${etag}"` } })

const chunkIds = async (sourceId: string): Promise<Map<string, string[]>> => {
  const rows = await service.ctx.db
    .selectFrom('chunks')
    .select(['id', 'url'])
    .where('source_id', '=', sourceId)
    .orderBy('id')
    .execute()
  return Map.groupBy(rows, ({ url }) => new URL(url ?? '').pathname) as unknown as Map<string, string[]>
}

test('a later crawl updates what has changed and removes missing pages', async () => {
  site.pages.set('/', tagged(page('Home', 'The marker oakhurst.', ['/same', '/changing', '/deep']), '1'))
  site.pages.set('/same', page('Same', 'The marker pinewick.'))
  site.pages.set('/changing', tagged(page('Changing', 'The marker quarrydale.', ['/lost']), '1'))
  site.pages.set('/deep', tagged(page('Deep', 'The marker rookwood.', ['/deeper']), '1'))
  site.pages.set('/deeper', page('Deeper', 'The marker stonebeck.'))
  site.pages.set('/lost', page('Lost', 'The marker thornaby.'))
  const { id } = await web.crawled(site.url)
  assert.ok(await web.finds('thornaby'))
  const before = await chunkIds(id)

  site.pages.set('/changing', tagged(page('Changing', 'The marker umberleigh.', ['/new']), '2'))
  site.pages.set('/new', page('New', 'The marker vexford.'))
  site.pages.set('/same', page('Same', 'The marker pinewick.'))
  const source = await web.again(id)
  assert.deepEqual(
    [source.status, source.metadata.children],
    ['trained', { included: 6, excluded: 0, failed: 0 }],
  )
  // The rows of what is no longer live are deleted after the new version is.
  const after = await until('the chunks of the missing page are deleted', async () => {
    const chunks = await chunkIds(id)
    return chunks.has('/lost') ? undefined : chunks
  })
  for (const path of ['/', '/same', '/deep', '/deeper'])
    assert.deepEqual(after.get(path), before.get(path), path)
  assert.notDeepEqual(after.get('/changing'), before.get('/changing'))
  assert.deepEqual([...after.keys()].sort(), ['/', '/changing', '/deep', '/deeper', '/new', '/same'])
  const found = {
    oakhurst: true,
    pinewick: true,
    quarrydale: false,
    umberleigh: true,
    vexford: true,
    thornaby: false,
  }
  for (const [marker, expected] of Object.entries(found))
    assert.equal(await web.finds(marker), expected, marker)
  assert.deepEqual([...(await web.pages(id)).keys()].sort(), [...after.keys()].sort())
})

test('the earlier text of a failing page is kept only for temporary errors', async () => {
  site.pages.set('/', page('Home', 'The marker wetherden.', ['/gone', '/shaky', '/private']))
  site.pages.set('/gone', page('Gone', 'The marker yarnfield.'))
  site.pages.set('/shaky', page('Shaky', 'The marker zealmoor.', ['/child']))
  site.pages.set('/private', page('Private', 'The marker ambleholt.'))
  site.pages.set('/child', page('Child', 'The marker birchover.'))
  const { id } = await web.crawled(site.url)
  site.pages.set('/gone', { status: 410 })
  site.pages.set('/shaky', { status: 503 })
  site.pages.set('/private', { status: 403 })
  const source = await web.again(id)
  assert.deepEqual(
    [source.status, source.metadata.children],
    ['trained', { included: 3, excluded: 0, failed: 2 }],
  )
  const found = { wetherden: true, yarnfield: false, zealmoor: true, ambleholt: false, birchover: true }
  for (const [marker, expected] of Object.entries(found))
    assert.equal(await web.finds(marker), expected, marker)
  const pages = await web.pages(id)
  assert.match(pages.get('/shaky')?.error ?? '', /503.*remains in use/)
  assert.equal(site.asked.filter((path) => path === '/shaky').length, 4)
  site.pages.set('/shaky', page('Shaky', 'The marker zealmoor.', ['/child']))
  await web.again(id)
  assert.equal((await web.pages(id)).get('/shaky')?.error, null)
})

test('a failed crawl leaves the earlier one in use, and the next crawl updates everything', async () => {
  site.pages.set('/', page('Home', 'The marker coldharbour.', ['/b']))
  site.pages.set('/b', page('B', 'The marker downham.'))
  const { id } = await web.crawled(site.url)
  site.pages.set('/', { status: 404 })
  const failed = await web.again(id)
  assert.equal(failed.status, 'failed')
  assert.match(failed.error, /404/)
  assert.deepEqual([await web.finds('coldharbour'), await web.finds('downham')], [true, true])
  site.pages.set('/', page('Home', 'The marker elmbridge.'))
  const source = await web.again(id)
  assert.deepEqual([source.status, source.error, source.metadata.children.included], ['trained', null, 1])
  const found = { coldharbour: false, downham: false, elmbridge: true }
  for (const [marker, expected] of Object.entries(found))
    assert.equal(await web.finds(marker), expected, marker)
})

test('one of several pages with equal text stays, whichever is removed', async () => {
  const twin = page('Twin', 'The marker fernleigh stands on two pages.')
  site.pages.set('/', page('Home', 'The marker greystoke.', ['/first', '/second']))
  site.pages.set('/first', tagged(twin, '1'))
  site.pages.set('/second', tagged(twin, '1'))
  const { id, metadata } = await web.crawled(site.url)
  assert.deepEqual(metadata.children, { included: 2, excluded: 1, failed: 0 })
  site.pages.set('/first', { status: 404 })
  assert.equal((await web.again(id)).metadata.children.included, 2)
  assert.ok(await web.finds('fernleigh'))
  site.pages.set('/first', tagged(twin, '1'))
  assert.equal((await web.again(id)).metadata.children.included, 2)
  assert.ok(await web.finds('fernleigh'))
})

test('a clone answers page by page, outlives the original, and crawls by itself', async () => {
  site.pages.set('/', page('Home', 'The marker hollowell.', ['/b']))
  site.pages.set('/b', page('B', 'The marker inglewood.'))
  const { id } = await web.crawled(site.url)
  const hidden = (await web.pages(id)).get('/')!
  await client.request('PATCH', `${web.path}/${id}/pages/${hidden.id}`, { excluded: true })
  const clone = (await client.request('POST', `/agents/${web.agentId}/clone`)).body.id
  await client.request('DELETE', `/agents/${web.agentId}`)
  const copy = websites(service, client, clone)
  const answer = await copy.ask('What about inglewood?')
  assert.deepEqual([answer.sources[0]?.url, answer.sources[0]?.name], [`${site.url}/b`, 'B'])
  assert.equal(await copy.finds('hollowell'), false)
  const [source] = (await client.request('GET', copy.path)).body.data
  assert.deepEqual(source.metadata.children, { included: 1, excluded: 1, failed: 0 })
  site.pages.set('/b', page('B', 'The marker jessamine.'))
  assert.deepEqual((await copy.again(source.id)).metadata.children, { included: 1, excluded: 1, failed: 0 })
  assert.deepEqual([await copy.finds('inglewood'), await copy.finds('jessamine')], [false, true])
})

test('parts of the pages of a website are listed, and are put back also on pages that have not changed', async () => {
  const navigation = '<nav><a href="/">The marker yarrowfield</a></nav>'
  const body = `<title>Home</title>${navigation}<main><h1>Home</h1><p>The marker zennorwick.</p></main>`
  site.pages.set('/', tagged({ body }, '1'))
  const { id } = await web.crawled(site.url)
  assert.deepEqual([await web.finds('zennorwick'), await web.finds('yarrowfield')], [true, false])
  const listed = await client.request('GET', `${web.path}/${id}/pages`)
  assert.deepEqual(listed.body.data[0].leftOut, [{ place: 'navigation', words: 3 }])
  const changed = await client.request('PUT', `${web.path}/${id}`, { wholePage: true })
  assert.equal(changed.status, 200, JSON.stringify(changed.body))
  assert.equal((await web.settled(id)).status, 'trained')
  assert.deepEqual([await web.finds('zennorwick'), await web.finds('yarrowfield')], [true, true])
  await web.again(id)
  assert.equal(await web.finds('yarrowfield'), true)
})

test('pages that are being read when the crawl is over are given up', async () => {
  const [asked, wasRead] = [Promise.withResolvers<void>(), Promise.withResolvers<boolean>()]
  // The first pages are read alone, before the others.
  const first = ['/a', '/b', '/c', '/d', '/e', '/f']
  site.pages.set('/', page('Home', 'The marker winterfold.', [...first, '/slow']))
  for (const path of first) site.pages.set(path, page(path, `The marker yarrow${path.slice(1)}.`))
  site.pages.set('/slow', (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' })
    let left = 200
    const dripping = setInterval(() => {
      if (left-- > 0) response.write('<p>more and more</p>')
      else response.end()
    }, 100)
    response.once('close', () => {
      clearInterval(dripping)
      wasRead.resolve(response.writableFinished)
    })
    asked.resolve()
    return undefined
  })
  const id = await web.add(site.url)
  await asked.promise
  const { status } = await client.request('DELETE', `${web.path}/${id}`)
  assert.ok(status < 300, `${status}`)
  assert.equal(await wasRead.promise, false)
})
