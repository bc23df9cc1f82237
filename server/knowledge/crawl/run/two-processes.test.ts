import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onPostgres } from '../../../../test/database.ts'
import { page, startWebSite } from '../../../../test/fakes/web-site.ts'
import { startService } from '../../../../test/start.ts'
import { websites } from '../../../../test/websites.ts'

const PAGES = 300

test('two processes share a crawl and process each page once', { skip: !onPostgres() }, async (t) => {
  const site = await startWebSite()
  t.after(() => site.close())
  site.rest = (request, response) => {
    const number = Number(request.url?.slice(1) || 0)
    const links = Array.from({ length: 10 }, (_, i) => number * 10 + i + 1).filter((next) => next < PAGES)
    // Pages that differ in numbers alone look like a calendar without end.
    const own = Array.from({ length: 20 }, (_, i) => (number * 20 + i + 7_000).toString(36)).join(' ')
    const text = `The marker hartwell${number} is on this page. ${own.replace(/\d/g, (digit) => 'qrstuvwxyz'[Number(digit)] ?? '')}`
    const { body } = page(
      `Page ${number}`,
      text,
      links.map((next) => `/${next}`),
    )
    setTimeout(() => response.writeHead(200, { 'content-type': 'text/html' }).end(body), 20)
    return undefined
  }
  const env = { ALLOWED_PRIVATE_HOSTS: site.host }
  const service = await startService(env)
  t.after(() => service.close())
  const other = await startService(env, service)
  t.after(() => other.close())
  const client = await service.account()
  const { body } = await client.request('POST', '/agents', { name: 'Agent' })
  const web = websites(service, client, body.id)
  const source = await web.crawled(site.url)
  assert.deepEqual(source.metadata.children, { included: PAGES, excluded: 0, failed: 0 })
  const asked = site.asked.filter((path) => path !== '/robots.txt' && path !== `/${PAGES}`)
  assert.equal(new Set(asked).size, PAGES)
  assert.equal(asked.length, PAGES)
  const chunks = await service.ctx.db.selectFrom('chunks').select(['page_id', 'ordinal']).execute()
  assert.equal(new Set(chunks.map(({ page_id, ordinal }) => `${page_id} ${ordinal}`)).size, chunks.length)
  assert.ok(await web.finds('hartwell299'))
})
