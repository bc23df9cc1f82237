import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { startBesideWebsite, type Websites } from '../../../../test/beside-website.ts'
import { page, redirect } from '../../../../test/fakes/web-site.ts'
import type { Client } from '../../../../test/start.ts'
import { addSite } from './add-site.ts'
import { crawlMetadata } from './crawl-source.ts'

const { service, site, newAgent, close } = await startBesideWebsite()
let client: Client
let web: Websites

beforeEach(async () => {
  ;({ client, web } = await newAgent())
})
after(close)

test('a website is crawled through its links, goes live, and is cited page by page', async () => {
  site.pages.set(
    '/',
    page('Home', 'The marker aldermoor is the start.', ['/returns', '/opening', '/picture.png']),
  )
  site.pages.set('/returns', page('Returns', 'A parcel can be sent back within thirty days.', ['/', '#top']))
  const returns = site.pages.get('/returns') as { body: string }
  returns.body = returns.body.replace('<h1>', '<h1 id="send-back">')
  site.pages.set(
    '/opening',
    page('Opening hours', 'The shop is open from nine to five.', ['/returns?utm_source=x']),
  )
  const created = await client.request('POST', '/agents', { name: 'x' })
  assert.equal(created.status, 201)
  const source = await web.crawled(`${site.url}/`)
  assert.deepEqual([source.status, source.error, source.name], ['trained', null, `${site.url}/`])
  assert.deepEqual(source.metadata, {
    type: 'crawl',
    excludePaths: [],
    includeOnlyPaths: [],
    slowScraping: false,
    crawlStatus: 'fetched',
    children: { included: 3, excluded: 0, failed: 0 },
  })
  const answer = await web.ask('Within how many days can a parcel be sent back?')
  assert.match(answer.text, /thirty days/)
  assert.deepEqual([answer.sources[0]?.name, answer.sources[0]?.url], ['Returns', `${site.url}/returns`])
  assert.match(answer.sources[0]?.anchor ?? '', /^send-back:~:text=A%20parcel/)
  const pages = await web.pages(source.id)
  assert.deepEqual([...pages.keys()], ['/', '/returns', '/opening'])
  assert.equal(
    [...pages.values()].reduce((sum, { size }) => sum + size, 0),
    source.size,
  )
  assert.deepEqual(site.asked.filter((path) => path !== '/robots.txt').sort(), ['/', '/opening', '/returns'])
})

test('patterns, robots.txt, redirects, canonical addresses and equal texts decide which pages are included', async () => {
  site.pages.set('/robots.txt', {
    body: 'User-agent: Parley\nDisallow: /private',
    headers: { 'content-type': 'text/plain' },
  })
  const links = [
    [
      '/a',
      '/a?print=1',
      '/old',
      '/away',
      '/private/x',
      '/blog/1',
      '/blog/keep',
      '/empty',
      '/missing',
      '/image',
    ],
    ['http://localhost:1/', 'https://example.com/elsewhere', '/loop'],
  ].flat()
  site.pages.set('/', page('Home', 'Welcome to the marker brackenridge.', links))
  site.pages.set('/a', page('A', 'The marker cinderhope stands here.'))
  site.pages.set(
    '/a?print=1',
    page('A', 'The marker cinderhope stands here, for print.', [], '<link rel="canonical" href="/a">'),
  )
  site.pages.set('/old', redirect('/new'))
  site.pages.set('/new', page('New', 'The marker dunmarrow has moved.'))
  site.pages.set('/away', redirect(`http://localhost:${new URL(site.url).port}/out`))
  site.pages.set('/out', page('Out', 'Another website.'))
  site.pages.set('/blog/1', page('Blog', 'Never asked for.'))
  site.pages.set('/blog/keep', page('Home', 'Welcome to the marker brackenridge.', links))
  site.pages.set('/empty', { body: '<html><body><script>app()</script></body></html>' })
  site.pages.set('/image', { headers: { 'content-type': 'image/png' }, body: 'x' })
  site.pages.set('/loop', redirect('/loop'))
  const source = await web.crawled(site.url, { excludePaths: ['^/blog/\\d'] })
  assert.deepEqual(
    [source.status, source.metadata.children],
    ['trained', { included: 3, excluded: 7, failed: 3 }],
  )
  const pages = await web.pages(source.id)
  const shown = Object.fromEntries(
    [...pages].map(([path, { status, error }]) => [path, `${status}: ${error}`]),
  )
  const expected: Record<string, RegExp> = {
    '/': /^included: null/,
    '/a': /^included: null/,
    '/new': /^included: null/,
    '/a?print=1': /^excluded: It says that its address is .*\/a\.$/,
    '/old': /^excluded: It redirects to .*\/new\.$/,
    '/away': /^excluded: .*outside of this website/,
    '/private/x': /^excluded: .*robots\.txt/,
    '/blog/1': /^excluded: .*excludePaths/,
    '/blog/keep': /^excluded: It has the same text as .*\/\.$/,
    '/empty': /^failed: .*no text/,
    '/missing': /^failed: .*404/,
    '/image': /^excluded: .*image\/png/,
    '/loop': /^failed: .*loop/,
  }
  assert.deepEqual(Object.keys(shown).sort(), Object.keys(expected).sort())
  for (const [path, form] of Object.entries(expected)) assert.match(shown[path] ?? '', form, path)
  assert.ok(!site.asked.some((path) => path.startsWith('/private') || path === '/blog/1'))
})

test('an invalid pattern is reported, and options are changed without interrupting answers', async () => {
  const wrong = { excludePaths: ['/ok', '(?=x)', '*'], includeOnlyPaths: ['(a)\\1'] }
  for (const [method, path, body] of [
    ['POST', '', { type: 'link', linkType: 'crawl', url: site.url, ...wrong }],
    ['PUT', null, wrong],
  ] as const) {
    site.pages.set('/', page('Home', 'The marker eastlorne.', ['/b', '/c']))
    site.pages.set('/b', page('B', 'The marker foxcombe.'))
    site.pages.set('/c', page('C', 'The marker gatewick.'))
    const id = path ?? `/${(await web.crawled(site.url)).id}`
    const answer = await client.request(method, web.path + id, body)
    assert.deepEqual([answer.status, answer.body.error?.code], [400, 'VALIDATION_INVALID_BODY'])
    const named = Object.keys(answer.body.error.details).sort()
    assert.deepEqual(named, ['excludePaths.1', 'excludePaths.2', 'includeOnlyPaths.0'])
  }
  const [source] = (await client.request('GET', web.path)).body.data
  const changed = await client.request('PUT', `${web.path}/${source.id}`, {
    includeOnlyPaths: ['^/$', '^/b'],
  })
  assert.deepEqual([changed.body.status, changed.body.metadata.crawlStatus], ['updated', 'fetching'])
  assert.ok(await web.finds('gatewick'))
  const after = await web.settled(source.id)
  assert.deepEqual(after.metadata.children, { included: 2, excluded: 1, failed: 0 })
  assert.deepEqual([await web.finds('foxcombe'), await web.finds('gatewick')], [true, false])
  const same = await client.request('PUT', `${web.path}/${source.id}`, { includeOnlyPaths: ['^/$', '^/b'] })
  assert.equal(same.body.status, 'trained')
  const strange = await client.request('PUT', `${web.path}/${source.id}`, { content: 'x' })
  assert.ok(strange.body.error.details.content)
})

test('a website without usable pages fails with the reason', async () => {
  const cases: [() => void, RegExp][] = [
    [() => site.pages.set('/', { status: 404 }), /404/],
    [() => site.pages.set('/', redirect('/away')), /outside/],
    [() => site.pages.set('/robots.txt', { body: 'User-agent: *\nDisallow: /' }), /robots/],
  ]
  for (const [prepare, reason] of cases) {
    site.pages.clear()
    site.pages.set('/away', redirect(`http://localhost:${new URL(site.url).port}/out`))
    site.pages.set('/out', page('Out', 'Another website.'))
    prepare()
    const source = await web.crawled(`${site.url}/`)
    assert.equal(source.status, 'failed')
    assert.match(source.error, reason)
    assert.equal(source.metadata.crawlStatus, 'failed')
    await client.request('DELETE', `${web.path}/${source.id}`)
  }
})

test('a crawl stays below its path, and slowScraping requests one page at a time', async () => {
  site.rest = (request) =>
    page(request.url ?? '', `Text of ${request.url}.`, ['/docs/a', '/docs/b', '/docs', '/other'])
  const source = await web.crawled(`${site.url}/docs/`, { slowScraping: true })
  assert.equal(source.metadata.slowScraping, true)
  assert.deepEqual([...(await web.pages(source.id)).keys()].sort(), ['/docs', '/docs/', '/docs/a', '/docs/b'])
  assert.equal(site.mostOpen, 1)
})

test('a website that is deleted during its crawl leaves nothing behind', async () => {
  site.rest = (request) => {
    const number = Number(request.url?.slice(1) || 0)
    return page(`Page ${number}`, `The marker netherby${number} is here.`, [
      `/${number * 2 + 1}`,
      `/${number * 2 + 2}`,
    ])
  }
  const id = await web.add(site.url)
  while (((await web.read(id)).metadata.children.included ?? 0) < 5) await wait(20)
  const deleted = await client.request('DELETE', `${web.path}/${id}`)
  assert.equal(deleted.body.status, 'deleted')
  assert.equal((await client.request('GET', `${web.path}/${id}/pages`)).status, 404)
  await quiet()
  for (const table of ['pages', 'chunks'] as const) {
    const rows = await service.ctx.db.selectFrom(table).select('id').where('source_id', '=', id).execute()
    assert.deepEqual(rows, [], table)
  }
  assert.equal(await web.finds('netherby1'), false)
})

/** Waits until the site has had no requests for a while. */
async function quiet(): Promise<void> {
  for (let before = -1; before !== site.asked.length || site.open > 0; ) {
    before = site.asked.length
    await wait(500)
  }
}

test('counts are updated during a crawl, and the plan limits its pages', async () => {
  const account = { id: client.accountId, plan: 'free' }
  const { id: accountId } = account
  await service.ctx.db.updateTable('accounts').set(account).where('id', '=', accountId).execute()
  site.pages.set('/robots.txt', { body: 'User-agent: *\nCrawl-delay: 0.1' })
  site.rest = (request) => {
    const room = Number(request.url?.slice(1) || 0)
    return page(
      `Room ${room}`,
      `This is room number ${room}.`,
      [1, 2, 3].map((door) => `/${room * 3 + door}`),
    )
  }
  const { id } = await addSite(service.ctx, account, web.agentId, { url: site.url, linkType: 'crawl' })
  const seen = new Set<number>()
  for (;;) {
    const row = await service.ctx.db
      .selectFrom('sources')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    seen.add(crawlMetadata(row).children.included)
    if (row.status === 'trained') {
      assert.deepEqual(crawlMetadata(row).children, { included: 10, excluded: 10, failed: 0 })
      break
    }
    await wait(30)
  }
  assert.ok(seen.size > 3, [...seen].join(' '))
  // Each slice of a crawl reads robots.txt, and a slow machine needs more than one.
  const pages = site.asked.filter((path) => path !== '/robots.txt')
  assert.deepEqual([pages.length, new Set(pages).size], [10, 10])
  const left = await service.ctx.db
    .selectFrom('pages')
    .select('error')
    .where('source_id', '=', id)
    .where('status', '=', 'excluded')
    .execute()
  for (const { error } of left) assert.match(error ?? '', /already has 10 pages/)
})
