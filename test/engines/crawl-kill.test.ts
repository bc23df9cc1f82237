import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { openEmbedded, openPostgres } from '../../server/platform/db/database.ts'
import { page, startWebSite } from '../fakes/web-site.ts'
import { newKey } from '../new-key.ts'
import { newHome, spawnService } from '../spawn-service.ts'
import { clientOf } from '../start.ts'

const PAGES = 60
/** The delay before each kill. The crawl of all pages takes longer than these delays together. */
const MOMENTS_MS = [500, 1_500, 1_000, 2_000]

test('a crawl that is killed repeatedly is completed, with every page once', async (t) => {
  const site = await startWebSite()
  t.after(() => site.close())
  site.rest = (request, response) => {
    const number = Number(request.url?.slice(1) || 0)
    const text = `The secret of page ${number} is the marker wolvercote${number}. `.repeat(5)
    const links = [number * 2 + 1, number * 2 + 2].filter((next) => next < PAGES).map((next) => `/${next}`)
    setTimeout(() => {
      response.writeHead(200, { 'content-type': 'text/html' }).end(page(`Page ${number}`, text, links).body)
    }, 150)
    return undefined
  }
  const home = await newHome()
  const env = { ...home.env, ALLOWED_PRIVATE_HOSTS: site.host }
  const key = await newKey(home)

  let service = await spawnService(env)
  let client = clientOf(service.url, key)
  const agent = (await client.request('POST', '/agents', { name: 'A' })).body.id
  const sources = `/agents/${agent}/sources`
  const created = await client.request('POST', sources, { type: 'link', linkType: 'crawl', url: site.url })
  const path = `${sources}/${created.body.id}`
  let kills = 0
  for (const moment of MOMENTS_MS) {
    await wait(moment)
    if ((await client.request('GET', path)).body.status === 'untrained') kills += 1
    await service.kill('SIGKILL')
    service = await spawnService(env)
    client = clientOf(service.url, key)
  }
  assert.ok(kills > 0, 'it was done before the first kill')
  for (;;) {
    const { body } = await client.request('GET', path)
    if (body.status === 'untrained') {
      await wait(300)
      continue
    }
    assert.deepEqual([body.status, body.error], ['trained', null])
    assert.deepEqual(body.metadata.children, { included: PAGES, excluded: 0, failed: 0 })
    break
  }
  for (const number of [0, 31, PAGES - 1]) {
    const message = `What is the secret of page ${number}, wolvercote${number}?`
    const { body } = await client.request('POST', `/agents/${agent}/chat`, { message, stream: false })
    assert.match(body.data.parts[0].text, new RegExp(`wolvercote${number}\\b`))
  }
  await service.kill('SIGKILL')

  const { db, close } = home.env.DATABASE_URL
    ? openPostgres(home.env.DATABASE_URL)
    : await openEmbedded(home.folder)
  const pages = await db.selectFrom('pages').select(['url', 'size']).execute()
  assert.equal(new Set(pages.map(({ url }) => url)).size, PAGES)
  assert.equal(pages.length, PAGES)
  const chunks = await db.selectFrom('chunks').select(['page_id', 'ordinal', 'retired_in']).execute()
  assert.equal(new Set(chunks.map(({ page_id, ordinal }) => `${page_id} ${ordinal}`)).size, chunks.length)
  assert.ok(chunks.every(({ retired_in }) => retired_in === null))
  const { size } = await db.selectFrom('sources').select('size').executeTakeFirstOrThrow()
  assert.equal(
    size,
    pages.reduce((sum, { size: bytes }) => sum + bytes, 0),
  )
  await close()
  await home.remove()
})
