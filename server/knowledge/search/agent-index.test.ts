import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { loadWordVectors } from '../../models/static/word-vectors.ts'
import { createAgentIndex } from './agent-index.ts'
import type { IndexedChunk } from './passage.ts'

const words = loadWordVectors()

function chunk(id: string, sourceId: string, text: string, more: Partial<IndexedChunk> = {}): IndexedChunk {
  return { id, sourceId, sourceName: null, url: null, headingPath: [], page: null, text, ...more }
}
const ids = (index: ReturnType<typeof createAgentIndex>, question: string): string[] =>
  index.search(question, { limit: 10 }).passages.map((passage) => passage.chunkId)

test('a removed source is gone at once', async () => {
  const index = createAgentIndex(words)
  await index.replaceSource('a', [chunk('a1', 'a', 'The warranty lasts three years.')])
  await index.replaceSource('b', [chunk('b1', 'b', 'The warranty of the battery lasts one year.')])
  assert.deepEqual(ids(index, 'How long is the warranty?').sort(), ['a1', 'b1'])
  index.removeSource('a')
  assert.deepEqual(ids(index, 'How long is the warranty?'), ['b1'])
  assert.deepEqual([...index.sources()], [['b', 1]])
  index.removeSource('unknown')
})

test('while a source is replaced, search sees the old chunks, then only the new ones', async () => {
  const index = createAgentIndex(words)
  const version = (name: string): IndexedChunk[] =>
    Array.from({ length: 600 }, (_, i) =>
      chunk(`${name}${i}`, 's', `Delivery ${name} takes ${i} days. `.repeat(8)),
    )
  await index.replaceSource('s', version('old'))
  const replacing = index.replaceSource('s', version('new'))
  let during = 0
  let done = false
  replacing.finally(() => {
    done = true
  })
  while (!done) {
    await new Promise(setImmediate)
    const found = ids(index, 'delivery days')
    const versions = new Set(found.map((id) => id.slice(0, 3)))
    assert.equal(versions.size, 1)
    if (versions.has('old')) during++
  }
  assert.ok(during > 0)
  assert.ok(ids(index, 'delivery days').every((id) => id.startsWith('new')))
  assert.deepEqual([...index.sources()], [['s', 600]])
})

test('a source removed while it is being replaced stays away; the later of two replaces wins', async () => {
  const index = createAgentIndex(words)
  const many = (name: string): IndexedChunk[] =>
    Array.from({ length: 500 }, (_, i) => chunk(`${name}${i}`, 's', `Parcel ${name} ${i} is sent.`))
  const going = index.replaceSource('s', many('x'))
  index.removeSource('s')
  await going
  assert.deepEqual(ids(index, 'parcel'), [])
  await Promise.all([index.replaceSource('s', many('first')), index.replaceSource('s', many('second'))])
  assert.ok(ids(index, 'parcel').every((id) => id.startsWith('second')))
  assert.equal(index.sources().get('s'), 500)
})

test('replacing over and over does not grow the index', async () => {
  const index = createAgentIndex(words)
  const chunks = Array.from({ length: 300 }, (_, i) => chunk(`c${i}`, 's', `Shelf number ${i} holds bolts.`))
  await index.replaceSource('s', chunks)
  await index.replaceSource('s', chunks)
  const early = index.bytes
  for (let i = 0; i < 6; i++) await index.replaceSource('s', chunks)
  assert.ok(index.bytes <= early * 1.6, `${index.bytes} bytes after, ${early} before`)
  assert.equal(ids(index, 'shelf 7 bolts')[0], 'c7')
})

test('a stored question wins over everything, however it is written', async () => {
  const index = createAgentIndex(words)
  await index.replaceSource('docs', [
    chunk('d1', 'docs', 'Opening hours: what are your opening hours? Opening hours.'),
  ])
  await index.replaceSource('qa', [
    chunk('q1', 'qa', 'We are there from nine to five.', {
      questions: ['What are your opening hours?', 'When open?'],
    }),
  ])
  const result = index.search('  what are YOUR opening hours', { limit: 3 })
  assert.equal(result.passages[0]!.chunkId, 'q1')
  assert.equal(result.passages[0]!.score, 1)
  assert.equal(result.confidence, 1)
  assert.equal(ids(index, 'when OPEN??')[0], 'q1')
  index.removeSource('qa')
  assert.deepEqual(ids(index, 'What are your opening hours?'), ['d1'])
})

test('a section whose title is the question, but for its number, comes first', async () => {
  const index = createAgentIndex(words)
  const text =
    'The chat on your website: one line puts the chat on your website, and the chat needs no account.'
  await index.replaceSource('a', [
    chunk('a1', 'a', text, { headingPath: ['The chat on your website'] }),
    chunk('a2', 'a', 'Make the agent public, then paste the tag.', {
      headingPath: ['The chat on your website', '2.1. How do I put the chat on my website?'],
    }),
  ])
  assert.equal(ids(index, 'how do i put the chat on my website')[0], 'a2')
})

test('passages that say the same take one place, and stay when their first source is removed', async () => {
  const index = createAgentIndex(words)
  const footer = { headingPath: ['Huber', 'Contact'] }
  for (const source of ['a', 'b', 'c'])
    await index.replaceSource(source, [chunk(`${source}1`, source, 'Call us: 01 555 12 34.', footer)])
  await index.replaceSource('d', [chunk('d1', 'd', 'You can call us at night, too.')])
  const find = () =>
    index
      .search('Can I call you at night?', { limit: 3 })
      .passages.map(({ text }) => text)
      .sort()
  assert.deepEqual(find(), ['Call us: 01 555 12 34.', 'You can call us at night, too.'])
  index.removeSource('a')
  assert.deepEqual(find(), ['Call us: 01 555 12 34.', 'You can call us at night, too.'])
})

test('Chinese, Japanese and Korean text is found', async () => {
  const index = createAgentIndex(words)
  await index.replaceSource('s', [
    chunk('ja', 's', '商品到着後三十日以内であれば返品できます。送料は無料です。'),
    chunk('zh', 's', '您可以在设置页面修改密码。'),
    chunk('ko', 's', '환불은 영업일 기준 5일 이내에 처리됩니다.'),
  ])
  assert.equal(ids(index, '返品したい')[0], 'ja')
  assert.equal(ids(index, '怎么修改密码')[0], 'zh')
  assert.equal(ids(index, '환불 언제')[0], 'ko')
})

test('where few passages share the significant pairs of a Japanese question, those that share the others are found', async () => {
  const index = createAgentIndex(words)
  await index.replaceSource('s', [
    chunk('pets', 's', '館内に一緒に入れる動物は補助犬のみです。'),
    chunk('tattoo', 's', 'タトゥーがあっても入浴できますか。シールで隠れる場合はご利用いただけます。'),
    chunk('parking', 's', '駐車場は八十台、無料。'),
  ])
  assert.deepEqual(ids(index, '彫り物があるのですが、一緒のお湯に浸かってもいいですか。'), ['pets', 'tattoo'])
})

test('headings, source names and misspelt words are found', async () => {
  const index = createAgentIndex(words)
  await index.replaceSource('s', [
    chunk('h', 's', 'It takes two days.', { headingPath: ['Shipping', 'Express'] }),
    chunk('n', 's', 'Press the button.', { sourceName: 'Dishwasher manual' }),
    chunk('t', 's', 'Our subscription can be paused.'),
  ])
  assert.equal(ids(index, 'express')[0], 'h')
  assert.equal(ids(index, 'dishwasher')[0], 'n')
  assert.equal(ids(index, 'subscripton')[0], 't')
})

test('a question without content finds nothing', async () => {
  const index = createAgentIndex(words)
  assert.deepEqual(index.search('anything', { limit: 3 }), { passages: [], confidence: 0 })
  await index.replaceSource('s', [chunk('c', 's', 'What it is and who you are is what this is.')])
  for (const question of ['', '   ', '?!', 'what is it', '🙂']) {
    assert.deepEqual(index.search(question, { limit: 3 }), { passages: [], confidence: 0 })
  }
})

test('a question of 10,000 characters is searched', async () => {
  const index = createAgentIndex(words)
  await index.replaceSource('s', [
    chunk('c', 's', 'The kayak costs 900 euros.'),
    chunk('d', 's', 'We sell tents.'),
  ])
  const question = `How much is the kayak? ${'I looked at it for a long time, really. '.repeat(250)}`.slice(
    0,
    10_000,
  )
  assert.equal(ids(index, question)[0], 'c')
  assert.ok(ids(index, 'kayak'.repeat(2_000)).length <= 2)
})

test('vectors of a provider decide where both sides have them; others are left alone', async () => {
  const index = createAgentIndex(words)
  await index.replaceSource('s', [
    chunk('east', 's', 'Alpha beta gamma.', { vector: Float32Array.of(1, 0, 0) }),
    chunk('north', 's', 'Delta epsilon zeta.', { vector: Float32Array.of(0, 2, 0) }),
    chunk('none', 's', 'Eta theta iota.', { vector: Float32Array.of(1, 1) }),
  ])
  const first = (queryVector: Float32Array): string | undefined =>
    index.search('unrelated words entirely', { limit: 1, queryVector }).passages[0]?.chunkId
  assert.equal(first(Float32Array.of(0.1, 0.9, 0)), 'north')
  assert.equal(first(Float32Array.of(0.9, 0.1, 0)), 'east')
  assert.equal(first(Float32Array.of(1, 0)), first(Float32Array.of(0, 0, 0)))
})

test('scores are in order and between 0 and 1, for any question', async () => {
  const index = createAgentIndex(words)
  const texts = [
    'Cancel under settings.',
    'Refunds take five days.',
    'Rückgabe binnen 30 Tagen.',
    '退款需要五天。',
  ]
  await index.replaceSource(
    's',
    texts.map((text, i) => chunk(`c${i}`, 's', text)),
  )
  const word = fc.constantFrom('refund', 'cancel', 'Tage', '退款', 'how', 'xyz', '\u0000', '5')
  fc.assert(
    fc.property(fc.array(word, { maxLength: 12 }), fc.string(), (known, noise) => {
      const { passages, confidence } = index.search(`${known.join(' ')} ${noise}`, { limit: 3 })
      assert.ok(confidence >= 0 && confidence <= 1 && passages.length <= 3)
      passages.forEach(({ score }, i) => {
        assert.ok(score >= 0 && score <= (passages[i - 1]?.score ?? 1))
      })
    }),
  )
})
