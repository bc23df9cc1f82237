import assert from 'node:assert/strict'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { after, test } from 'node:test'
import { docxOf, pdfBomb, pdfOfPicture } from '../../../test/fixtures/hostile-documents.ts'
import { makeFactPdf } from '../../../test/fixtures/make-pdf.ts'
import { until } from '../../../test/until.ts'
import { ExtractFailure, type ExtractFailureCode } from './extract-failure.ts'
import { createExtractor } from './extractor.ts'

const extractor = createExtractor()
after(() => extractor.close())
const ann = { owner: 'ann' }
const text = (content: string) => ({ type: 'txt' as const, bytes: Buffer.from(content) })
const heavy = { type: 'pdf' as const, bytes: makeFactPdf(200) }
const hasCode = (code: ExtractFailureCode) => (error: unknown) =>
  error instanceof ExtractFailure && error.code === code

test('documents are read in a child process, and the caller keeps the bytes', async () => {
  const bytes = makeFactPdf(3)
  const all = await Promise.all([
    extractor.extract({ type: 'pdf', bytes }, ann),
    extractor.extract(text('second'), ann),
    extractor.extract({ type: 'pdf', bytes }, ann),
  ])
  assert.deepEqual(
    all.map(({ sections }) => sections.length),
    [3, 1, 3],
  )
  assert.equal(bytes[0], '%'.charCodeAt(0))
})

test('a failure is passed on with its code and does not affect the next document', async () => {
  const input = { type: 'pdf' as const, bytes: Buffer.from('no pdf') }
  await assert.rejects(extractor.extract(input, ann), hasCode('broken'))
  assert.equal((await extractor.extract(text('still here'), ann)).sections[0]!.text, 'still here')
})

test('limits of time, memory and output, and cancellation, end only their own document', async () => {
  const hasty = createExtractor({ timeoutMs: 20 })
  await assert.rejects(hasty.extract(heavy, ann), hasCode('timeout'))
  await hasty.close()

  // The whole tree of a page is in memory at once and needs several times the limit, even with garbage collection.
  const page = { type: 'html' as const, bytes: Buffer.from('<p>one</p>'.repeat(40_000)) }
  const small = createExtractor({ memoryMb: 90, answerMb: 1 })
  await assert.rejects(small.extract(page, ann), hasCode('out_of_memory'))
  await assert.rejects(small.extract(text('x'.repeat(2_000_000)), ann), hasCode('too_large'))
  assert.equal((await small.extract(text('after'), ann)).bytes, 5)
  await small.close()

  const cancel = new AbortController()
  const cancelled = extractor.extract(heavy, { ...ann, signal: cancel.signal })
  const next = extractor.extract(text('next'), ann)
  setImmediate(() => cancel.abort())
  await assert.rejects(cancelled, hasCode('aborted'))
  assert.equal((await next).bytes, 4)
})

test('small documents that expand to gigabytes end the reader at its limit, and the next one is read', async () => {
  const bounded = createExtractor({ memoryMb: 300, timeoutMs: 240_000 })
  const refused = (type: 'pdf' | 'docx' | 'html', bytes: Uint8Array) =>
    bounded.extract({ type, bytes }, ann).then(
      () => 'read',
      (error: ExtractFailure) => error.code,
    )
  assert.equal(await refused('pdf', pdfBomb(500)), 'out_of_memory')
  assert.equal(await refused('docx', docxOf('<w>'.repeat(6_000_000))), 'too_large')
  assert.equal(await refused('html', Buffer.from('<a href='.repeat(100_000))), 'too_large')
  assert.ok(['read', 'no_text', 'broken'].includes(await refused('pdf', pdfOfPicture(60_000))))
  assert.equal((await bounded.extract(text('next'), ann)).bytes, 4)
  await bounded.close()
})

test('no account gets all places, and waiting accounts take turns', async () => {
  const order: string[] = []
  // Small documents have a place of their own beside the two.
  const large = (name: string) => text(`${name} `.repeat(40_000))
  const read = (owner: string, name: string) =>
    extractor.extract(large(name), { owner }).then(() => order.push(name))
  const gate = Promise.withResolvers<void>()
  const slow = extractor
    .extract(large('slow'), { ...ann, onBegin: () => gate.promise })
    .then(() => order.push('slow'))
  const own = ['ann 1', 'ann 2'].map((name) => read('ann', name))
  const others = ['ben 1', 'ben 2', 'ben 3'].map((name) => read('ben', name))
  const third = read('cat', 'cat 1')
  // The other process is free for these documents.
  await Promise.all([...others, third])
  gate.resolve()
  await Promise.all([slow, ...own])
  assert.ok(order.indexOf('cat 1') < order.indexOf('ben 3'), `one after the other: ${order}`)
  assert.ok(order.indexOf('ann 1') > order.indexOf('slow'), `no second place for the same: ${order}`)
})

test('chunks are created in the same process', async () => {
  const { bytes, chunks } = await extractor.extractChunks(text('One is here.\n\nTwo is there.'), {
    ...ann,
    targetChars: 10,
    maxChars: 20,
  })
  assert.deepEqual([bytes, chunks.map((chunk) => chunk.text)], [27, ['One is here.', 'Two is there.']])
})

test('thousands of chunks arrive in pieces, complete and in order', async () => {
  const many = Array.from({ length: 2_500 }, (_, i) => `Sentence number ${i} stands here.`)
  const cut = { ...ann, targetChars: 20, maxChars: 60 }
  const { chunks } = await extractor.extractChunks(text(many.join('\n\n')), cut)
  assert.deepEqual(
    chunks.map((chunk) => [chunk.ordinal, chunk.text]),
    many.map((sentence, i) => [i, sentence]),
  )
})

test('a child ends when it is idle, and when the extractor is closed', async () => {
  const isThere = (pid: number): boolean => {
    try {
      return process.kill(pid, 0)
    } catch {
      return false
    }
  }
  const idle = createExtractor({ idleMs: 1 })
  await idle.extract(text('x'), ann)
  await until('the idle child is gone', () => idle.processes().length === 0)
  const onBegin = () => new Promise<never>(() => {})
  const broken = [heavy, heavy].map((input) =>
    assert.rejects(idle.extract(input, { ...ann, onBegin }), hasCode('aborted')),
  )
  const [pid = 0] = await until('it works', () => idle.processes().length === 1 && idle.processes())
  void idle.close()
  await Promise.all(broken)
  await until('the busy child is gone', () => !isThere(pid))
  await assert.rejects(idle.extract(text('x'), ann), hasCode('aborted'))
})

test('a child has no access to the environment, files or connections of the service', {
  skip: process.platform === 'linux' ? false : 'reads /proc',
}, async () => {
  process.env.PARLEY_TEST_SECRET = 'do not tell'
  const one = createExtractor()
  await one.extract(text('x'), ann)
  delete process.env.PARLEY_TEST_SECRET
  const [pid] = one.processes()
  const of = (name: string) => readFileSync(`/proc/${pid}/${name}`, 'latin1')
  assert.doesNotMatch(of('environ'), /PARLEY|PATH|HOME/)
  assert.match(of('limits'), /Max core file size +0 /)
  assert.match(of('limits'), /Max data size +\d+ /)
  const open = (id: number | string) =>
    readdirSync(`/proc/${id}/fd`).flatMap((fd) => {
      try {
        return readlinkSync(`/proc/${id}/fd/${fd}`)
      } catch {
        // The handle that lists the folder has been closed meanwhile.
        return []
      }
    })
  const kept = new Set(open(pid ?? 0))
  const shared = open('self').filter((name) => kept.has(name) && !/^(\/dev\/|anon_inode)/.test(name))
  assert.deepEqual(
    shared.filter((name) => name.startsWith('socket:')),
    [],
  )
  await one.close()
})
