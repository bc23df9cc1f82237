import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { startBesideWebsite, type Websites } from '../../../../test/beside-website.ts'
import { page } from '../../../../test/fakes/web-site.ts'
import type { Client } from '../../../../test/start.ts'
import { until } from '../../../../test/until.ts'

const { site, newAgent, close } = await startBesideWebsite()
let client: Client
let web: Websites

beforeEach(async () => {
  ;({ client, web } = await newAgent())
})
after(close)

test('a calendar without end is paused, told, and read on when it is wanted', async () => {
  site.pages.set('/', page('Home', 'The marker amberley.', ['/about', '/dates?month=0']))
  site.pages.set('/about', page('About', 'The marker bosham.'))
  site.rest = ({ url = '' }) => {
    const month = Number(url.split('=')[1])
    if (!url.startsWith('/dates?') || month > 150) return { status: 404 }
    const links = [`/dates?month=${month + 1}`, `/dates?month=${month + 2}`]
    return page(`Month ${month}`, `There are no events in month ${month}.`, links)
  }
  const source = await web.crawled(site.url)
  assert.equal(source.status, 'trained')
  const [paused] = source.metadata.paused
  assert.deepEqual([paused.kind, paused.addresses], ['chain', '/dates?month=…'])
  assert.ok(paused.count > 0 && source.metadata.children.included < 100, JSON.stringify(source.metadata))
  assert.ok((await web.finds('amberley')) && (await web.finds('bosham')))
  const left = [...(await web.pages(source.id)).values()].filter(({ status }) => status === 'excluded')
  assert.match(left[0]?.error ?? '', /addresses like \/dates\?month=… lead on and on/)

  const again = await web.again(source.id)
  assert.equal(again.metadata.children.included, source.metadata.children.included)
  assert.equal(again.metadata.paused.length, 1)

  const path = `${web.path}/${source.id}/read-on`
  const wrong = await client.request('POST', path, { addresses: '/other?x=…' })
  assert.deepEqual([wrong.status, wrong.body.error.code], [400, 'VALIDATION_INVALID_BODY'])
  const read = await client.request('POST', path, { addresses: paused.addresses })
  assert.deepEqual([read.status, read.body.metadata.paused], [200, []])
  const whole = await web.settled(source.id)
  assert.equal(whole.metadata.children.included, 153)
})

test('links with a value that changes nothing are read once, and every page is reached', async () => {
  let visits = 0
  site.rest = ({ url = '' }) => {
    const { pathname } = new URL(url, site.url)
    const number = Number(/^\/room-(\d+)$/.exec(pathname)?.[1] ?? (pathname === '/' ? 0 : Number.NaN))
    if (Number.isNaN(number)) return { status: 404 }
    const next = [1, 2].map((door) => number * 2 + door).filter((room) => room < 60)
    const links = [0, ...next].map((room) => `/room-${room}?visit=${++visits}`)
    return page(`Room ${number}`, `The marker room${number}carisbrooke is in this room.`, links)
  }
  const source = await web.crawled(site.url)
  assert.deepEqual(
    source.metadata.paused?.map(({ kind }: { kind: string }) => kind),
    ['value'],
  )
  const read = new Set(
    [...(await web.pages(source.id)).values()]
      .filter(({ status }) => status === 'included')
      .map(({ title }) => title),
  )
  assert.equal(read.size, 60)
  assert.ok(site.asked.length < 200, String(site.asked.length))
})

test('a crawl that has been paused ends although its website does not', async () => {
  site.pages.set('/', page('Home', 'The marker dunwich.', ['/store']))
  const goods = Array.from(
    { length: 30 },
    (_, i) => `Lamp ${String.fromCharCode(97 + (i % 26))}${i} of brass`,
  )
  site.rest = ({ url = '' }) => {
    const { pathname, searchParams, href } = new URL(url, site.url)
    if (pathname !== '/store') return { status: 404 }
    const some = goods.filter((_, i) => [...searchParams.values()].every((value) => i % Number(value) !== 0))
    const more = [2, 3, 5, 7].flatMap((value) =>
      ['colour', 'size', 'brand'].map((name) => {
        const next = new URL(href)
        next.searchParams.append(name, String(value))
        return next.pathname + next.search
      }),
    )
    return page(
      'Store',
      some.join('</p><p>'),
      more.map((link) => link.replaceAll('&', '&amp;')),
    )
  }
  const id = await web.add(site.url)
  const source = await until('the end of the crawl', async () => {
    const now = await web.read(id)
    return now.status !== 'untrained' && now
  })
  assert.equal(source.status, 'trained')
  assert.match(source.metadata.paused[0].addresses, /^\/store\?/)
  assert.ok(source.metadata.children.included < 400, JSON.stringify(source.metadata.children))
})
