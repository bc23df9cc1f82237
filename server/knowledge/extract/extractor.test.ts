import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { makeFactPdf } from '../../../test/fixtures/make-pdf.ts'
import { ExtractFailure, type ExtractFailureCode } from './extract-failure.ts'
import { createExtractor } from './extractor.ts'

const extractor = createExtractor()
after(() => extractor.close())
const text = (content: string) => ({ type: 'txt' as const, bytes: Buffer.from(content) })
const hasCode = (code: ExtractFailureCode) => (error: unknown) =>
  error instanceof ExtractFailure && error.code === code

test('documents are read in a worker, one after the other, and the bytes stay with the caller', async () => {
  const bytes = makeFactPdf(3)
  const all = await Promise.all([
    extractor.extract({ type: 'pdf', bytes }),
    extractor.extract(text('second')),
    extractor.extract({ type: 'pdf', bytes }),
  ])
  assert.deepEqual(
    all.map(({ sections }) => sections.length),
    [3, 1, 3],
  )
  assert.equal(bytes[0], '%'.charCodeAt(0))
})

test('a failure crosses over with its code and does not stop the next document', async () => {
  await assert.rejects(extractor.extract({ type: 'pdf', bytes: Buffer.from('no pdf') }), hasCode('broken'))
  assert.equal((await extractor.extract(text('still here'))).sections[0]!.text, 'still here')
})

test('too long, too much memory, and a cancelled wait end only their own document', async () => {
  const heavy = { type: 'pdf' as const, bytes: makeFactPdf(1500) }
  const hasty = createExtractor({ timeoutMs: 20 })
  await assert.rejects(hasty.extract(heavy), hasCode('timeout'))
  await hasty.close()

  // The whole tree of a page is alive at once: several times what the thread may hold, however it is collected.
  const page = { type: 'html' as const, bytes: Buffer.from('<p>one</p>'.repeat(40_000)) }
  const small = createExtractor({ maxHeapMb: 20 })
  await assert.rejects(small.extract(page), hasCode('out_of_memory'))
  assert.equal((await small.extract(text('after'))).bytes, 5)
  await small.close()

  const cancel = new AbortController()
  const cancelled = extractor.extract(heavy, { signal: cancel.signal })
  const next = extractor.extract(text('next'))
  setImmediate(() => cancel.abort())
  await assert.rejects(cancelled, hasCode('aborted'))
  assert.equal((await next).bytes, 4)
})

test('chunks are made in the same thread', async () => {
  const { bytes, chunks } = await extractor.extractChunks(text('One is here.\n\nTwo is there.'), {
    targetChars: 10,
    maxChars: 20,
  })
  assert.deepEqual([bytes, chunks.map((chunk) => chunk.text)], [27, ['One is here.', 'Two is there.']])
})

test('thousands of chunks come over in pieces, whole and in order', async () => {
  const many = Array.from({ length: 2_500 }, (_, i) => `Sentence number ${i} stands here.`)
  const { chunks } = await extractor.extractChunks(text(many.join('\n\n')), { targetChars: 20, maxChars: 60 })
  assert.deepEqual(
    chunks.map((chunk) => [chunk.ordinal, chunk.text]),
    many.map((sentence, i) => [i, sentence]),
  )
})

test('closing ends what is running and what waits', async () => {
  const closing = createExtractor()
  const running = closing.extract({ type: 'pdf', bytes: makeFactPdf(1500) })
  const waiting = closing.extract(text('x'))
  setImmediate(() => closing.close())
  await assert.rejects(running, hasCode('aborted'))
  await assert.rejects(waiting, hasCode('aborted'))
})

test('a closed extractor refuses', async () => {
  const closed = createExtractor()
  await closed.close()
  await assert.rejects(closed.extract(text('x')), hasCode('aborted'))
})
