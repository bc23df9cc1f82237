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
