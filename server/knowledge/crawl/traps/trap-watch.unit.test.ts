import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { sketchOf } from './sketch.ts'
import { createTrapWatch, type Trap } from './trap-watch.ts'

type Given = { path: string; text: string; from: number | null }

/** Reads pages one after another. Returns the first trap, and the number of pages until then. */
function watch(pages: Iterable<Given>): { trap: Trap | null; after: number } {
  const watching = createTrapWatch()
  const said = new Set<string>()
  let number = 0
  for (const { path, text, from } of pages) {
    number += 1
    const url = `https://example.com${path}`
    const page = { number, url, foundOn: from, sketch: sketchOf([text]), isIncluded: !said.has(text) }
    const trap = watching.note(page, () => false)
    said.add(text)
    if (trap) return { trap, after: number }
  }
  return { trap: null, after: number }
}

const MONTHS = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September']
const many = (count: number, page: (i: number) => Given): Given[] =>
  Array.from({ length: count }, (_, i) => page(i))
/** Words without a digit, others for each seed. */
const words = (seed: number, count: number): string =>
  createHash('sha512')
    .update(`${seed}`)
    .digest('hex')
    .repeat(4)
    .replace(/\d/g, (digit) => 'klmnopqrst'[Number(digit)] ?? '')
    .match(/.{4}/g)!
    .slice(0, count)
    .join(' ')

test('a calendar without end is recognised by its query, and by its folders', () => {
  const month = (i: number) => `${MONTHS[i % 9]} ${2_000 + i}\nNo events in ${MONTHS[i % 9]}.`
  const byQuery = watch(many(200, (i) => ({ path: `/cal?m=${i}`, text: month(i), from: i || null })))
  assert.deepEqual(byQuery.trap, { kind: 'chain', addresses: '/cal?m=…' })
  const byFolder = watch(
    many(400, (i) => ({ path: `/termine/${2_000 + i}/${i % 12}`, text: month(i), from: i || null })),
  )
  assert.deepEqual(byFolder.trap, { kind: 'chain', addresses: '/termine/…/…' })
  assert.ok(byQuery.after <= 80 && byFolder.after <= 300)
})

test('filters that combine without end are recognised, whatever they are called', () => {
  const goods = many(40, (i) => ({ path: '', text: words(i, 12), from: null })).map(({ text }) => text)
  const list = (i: number) => goods.filter((_, at) => (at * 31 + i * 17) % 5 < 3).join('\n')
  const { trap } = watch(
    many(300, (i) => ({
      path: `/waren?${['farbe', 'groesse', 'preis']
        .slice(0, (i % 3) + 1)
        .map((name) => `${name}=${i}`)
        .join('&')}`,
      text: list(i),
      from: i || null,
    })),
  )
  assert.equal(trap?.kind, 'chain')
  assert.match(trap?.addresses ?? '', /^\/waren\?/)
})

test('a value that changes nothing is recognised on all paths together', () => {
  const { trap, after } = watch(
    many(100, (i) => ({
      path: `/page${'abcde'[i % 5]}?visit=${i}`,
      text: words(i % 5, 60),
      from: i || null,
    })),
  )
  assert.deepEqual(trap, { kind: 'value', addresses: '…?visit=…' })
  assert.ok(after < 20, String(after))
})

test('pages with texts of their own are no trap, whether they follow one another or not', () => {
  const cases: ((i: number) => Given)[] = [
    (i) => ({ path: `/index.php?id=${i}`, text: words(i, 80), from: i || null }),
    (i) => ({ path: `/blog/2024/${i}`, text: words(i, 80), from: i || null }),
    (i) => ({ path: `/list?page=${i}`, text: words(i, 40), from: i || null }),
    // Parts that differ in their numbers alone, all linked from one page.
    (i) => ({
      path: i === 0 ? '/all' : `/screws/m${i}`,
      text: `Screw M${i} x ${i * 3}\nThread ${i} mm, length ${i * 3} mm\nPack of ${i * 10} for ${i * 7} EUR`,
      from: i === 0 ? null : 1,
    }),
  ]
  for (const page of cases) assert.equal(watch(many(300, page)).trap, null, page(1).path)
})

/** Lists of ten goods each, one list after another, with the pages of their goods. */
function* listed(lists: number, list: string, good: (n: number) => Given): Generator<Given> {
  for (let at = 0; at < lists; at++) {
    const goods = many(10, (i) => good(at * 10 + i))
    yield {
      path: `${list}${at}`,
      text: `Page ${at}\n${goods.map(({ text }) => text.split('\n')[0]).join('\n')}`,
      from: at === 0 ? null : (at - 1) * 11 + 1,
    }
    for (const one of goods) yield { ...one, from: at * 11 + 1 }
  }
}

test('a shop and a forum of thousands of numbered pages are read whole', () => {
  const frame = words(7, 120)
  const name = (n: number) => [7, 30, 41].map((sort) => words(n % sort, 1)).join(' ')
  const sites: Record<string, Iterable<Given>> = {
    'goods with the same few words': listed(200, '/shop?page=', (n) => ({
      path: `/product?id=${n}`,
      text: `${name(n)} ${n} for ${n * 3} EUR\nIn ${n % 4} days`,
      from: null,
    })),
    'goods within long equal texts': listed(200, '/shop/', (n) => ({
      path: `/product/${n}`,
      text: `${words(n + 50, 4)} for ${n * 3} EUR\n${frame}`,
      from: null,
    })),
    threads: listed(200, '/forum?page=', (n) => ({
      path: `/thread?t=${n}`,
      text: `${words(n + 50, 6)}\n${words(n + 9_000, 60)}`,
      from: null,
    })),
  }
  for (const [what, pages] of Object.entries(sites)) {
    const { trap, after } = watch(pages)
    assert.deepEqual([trap, after], [null, 2_200], what)
  }
})

test('a calendar of months and days without end is recognised', () => {
  const days = listed(500, '/cal?m=', (n) => ({
    path: `/day?d=${n}`,
    text: `Events of ${MONTHS[Math.floor(n / 10) % 9]} ${n % 10}\nNo events`,
    from: null,
  }))
  const { trap, after } = watch(days)
  assert.equal(trap?.kind, 'chain')
  assert.ok(after <= 800, String(after))
})
