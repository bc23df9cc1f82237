import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { startBesideWebsite, type Websites } from '../../../../test/beside-website.ts'
import type { Client } from '../../../../test/start.ts'

const { service, site, newAgent, close } = await startBesideWebsite()
let client: Client
let web: Websites

beforeEach(async () => {
  ;({ client, web } = await newAgent())
})
after(close)

const PATHS = ['/', '/boots', '/coats', '/hats', '/scarves']

/** Pages that mark nothing: a menu, their own text, and what the shop says on each of them. */
function show(side: string, version = 1): void {
  for (const path of PATHS) {
    const links = PATHS.map((other) => `<li><a href="${other}">Page ${other}</a></li>`).join('')
    const name = path.slice(1) || 'start'
    const isOther = version === 3 && path < '/d'
    const body =
      `<title>${name}</title><div id="m"><ul>${links}</ul></div><div><h1>All about ${name}</h1>` +
      `<p>The marker own${name}.</p><h2>Care</h2><p>Wash ${name} by hand.</p></div>` +
      `<div class="x">${side}<br>${isOther ? `Ask ${name}.` : 'Call the shop.'}<h3>Partners</h3>` +
      '<p>Trade association of shops</p></div>'
    const etag = `"${isOther || version < 3 ? version : 2}"`
    site.pages.set(path, { body, headers: { etag } })
  }
}

async function textsOf(sourceId: string): Promise<Record<string, string>> {
  const rows = await service.ctx.db
    .selectFrom('chunks')
    .select(['url', 'heading_path', 'text'])
    .where('source_id', '=', sourceId)
    .where('retired_in', 'is', null)
    .orderBy('ordinal')
    .execute()
  const pages = Map.groupBy(rows, ({ url }) => new URL(url ?? '').pathname)
  const said = (all: typeof rows): string =>
    all.map((one) => `${one.heading_path.join(' ')} ${one.text}`).join('\n')
  return Object.fromEntries([...pages].map(([path, all]) => [path, said(all)]))
}

test('what most pages of a site repeat is kept on one of them, listed, and put back', async () => {
  show('Parcels are free from thirty.')
  const { id } = await web.crawled(site.url)
  const texts = await textsOf(id)
  assert.deepEqual(Object.keys(texts).sort(), PATHS)
  for (const path of PATHS) {
    const name = path.slice(1) || 'start'
    assert.match(
      texts[path]!,
      new RegExp(`All about ${name}[\\s\\S]*own${name}[\\s\\S]*Care[\\s\\S]*Wash ${name}`),
    )
    const repeats = /Parcels|Call the shop|association|Partners|Page \//
    if (path === '/') assert.match(texts[path]!, /Parcels are free from thirty.\s+Call the shop/)
    else assert.doesNotMatch(texts[path]!, repeats)
  }
  const { data } = (await client.request('GET', `${web.path}/${id}/pages`)).body
  const boots = data.find(({ url }: { url: string }) => url.endsWith('/boots'))
  const words = boots.leftOut.reduce((sum: number, part: { words: number }) => sum + part.words, 0)
  assert.ok(words >= 20, JSON.stringify(boots.leftOut))
  await client.request('PUT', `${web.path}/${id}`, { wholePage: true })
  await web.settled(id)
  assert.match((await textsOf(id))['/boots']!, /Parcels are free/)
})

test('a later crawl writes nothing where nothing changed, and every page where the site repeats something else', async () => {
  show('Parcels are free from thirty.')
  const { id } = await web.crawled(site.url)
  const chunks = async () =>
    (
      await service.ctx.db
        .selectFrom('chunks')
        .select('id')
        .where('source_id', '=', id)
        .orderBy('id')
        .execute()
    ).map((chunk) => chunk.id)
  const before = await chunks()
  await web.again(id)
  assert.deepEqual(await chunks(), before)
  show('Parcels cost three.', 2)
  await web.again(id)
  const texts = await textsOf(id)
  assert.match(texts['/']!, /Parcels cost three/)
  for (const path of PATHS.slice(1)) assert.doesNotMatch(texts[path]!, /Parcels/)
  // Where fewer pages repeat it, a page gets it back although its server says that it is unchanged.
  show('Parcels cost three.', 3)
  await web.again(id)
  assert.match((await textsOf(id))['/hats']!, /Call the shop/)
})
