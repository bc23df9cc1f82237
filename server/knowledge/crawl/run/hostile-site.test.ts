import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { startBesideWebsite } from '../../../../test/beside-website.ts'
import { page, redirect } from '../../../../test/fakes/web-site.ts'
import { websites } from '../../../../test/websites.ts'
import { addSite } from './add-site.ts'

const { service, site, close } = await startBesideWebsite()
after(close)

test('a hostile website does no harm, and each page says what was wrong with it', async () => {
  const traps = ['/endless', '/bomb', '/circle', '/metadata', '/broken', '/deep', '/wide', '/robots.txt']
  site.pages.set('/', page('Home', 'The marker saltfleet is the only good page.', [...traps, '/maze/1']))
  site.pages.set('/endless', (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' })
    const more = (): void => {
      while (response.write('<p>more and more</p>'.repeat(1_000))) {}
      response.once('drain', more)
    }
    more()
    return undefined
  })
  site.pages.set('/bomb', {
    headers: { 'content-encoding': 'gzip' },
    body: gzipSync(Buffer.alloc(100 * 1_048_576, 'a')),
  })
  site.pages.set('/circle', redirect('/circle'))
  site.pages.set('/metadata', redirect('http://[::ffff:a9fe:a9fe]/latest/meta-data/'))
  site.pages.set('/broken', { headers: { 'content-encoding': 'br' }, body: 'this is not brotli' })
  site.pages.set('/deep', { body: `<html><body>${'<div>'.repeat(50_000)}Deep.` })
  site.pages.set('/wide', { body: `<html><body>${'<p>x</p>'.repeat(60_000)}` })
  // Every page links to new pages, some of them with very long paths.
  site.rest = ({ url = '' }) =>
    page(`Maze ${url}`, `You are at ${url}.`, [
      `${url}/1`,
      `${url}/2?${'x'.repeat(1_000)}`,
      `${url}/${'y'.repeat(2_000)}`,
    ])

  const client = await service.account({ plan: 'standard' })
  const { body } = await client.request('POST', '/agents', { name: 'Agent' })
  const web = websites(service, client, body.id)
  const setPlan = (plan: string) =>
    service.ctx.db.updateTable('accounts').set({ plan }).where('id', '=', client.accountId).execute()
  await setPlan('free')
  const account = { id: client.accountId, plan: 'free' }
  const { id } = await addSite(service.ctx, account, web.agentId, { url: site.url, linkType: 'crawl' })
  for (let isDone = false; !isDone; ) {
    const { status } = await service.ctx.db
      .selectFrom('sources')
      .select('status')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    isDone = status === 'trained' || status === 'failed'
    // The service responds while the site is crawled.
    assert.equal((await service.anonymous('GET', '/health')).status, 200)
  }
  await setPlan('standard')

  const source = await web.read(id)
  assert.deepEqual([source.status, source.metadata.children.included], ['trained', 10])
  const pages = await web.pages(id)
  assert.ok(pages.size <= 20, String(pages.size))
  const reasons: Record<string, RegExp> = {
    '/endless': /larger than the 5 MB/,
    '/bomb': /larger than the 5 MB/,
    '/circle': /redirects in a loop/,
    '/metadata': /not on the public internet/,
    '/deep': /200 levels deep/,
    '/wide': /50000 elements/,
    '/broken': /damaged compressed response/,
  }
  for (const [path, reason] of Object.entries(reasons)) {
    assert.equal(pages.get(path)?.status, 'failed', path)
    assert.match(pages.get(path)?.error ?? '', reason, path)
  }
  assert.ok(await web.finds('saltfleet'))
})
