import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import type { Worker } from 'node:worker_threads'
import { createMailParser } from './mail-parser.ts'

const mail = (text: string): Buffer => Buffer.from(`From: ann@example.com\r\nSubject: x\r\n\r\n${text}\r\n`)

test('mails are read a few at a time, all of them', async () => {
  let alive = 0
  let most = 0
  const count = (worker: Worker): void => {
    most = Math.max(most, ++alive)
    worker.on('exit', () => alive--)
  }
  process.on('worker', count)
  const parser = createMailParser({ atOnce: 2, mostWaiting: 3 })
  assert.equal(parser.isFull(), false)
  const texts = ['one', 'two', 'three', 'four', 'five']
  const reading = texts.map((text) => parser.read(mail(text)))
  assert.equal(parser.isFull(), true, 'two are read, three wait')
  assert.deepEqual(
    (await Promise.all(reading)).map(({ text }) => text),
    texts,
  )
  process.off('worker', count)
  assert.deepEqual([most, alive, parser.isFull()], [2, 0, false])
})

test('a mail whose thread is ended is kept as it came, and the next has its place', async () => {
  const parser = createMailParser({ atOnce: 1 })
  const started = once(process, 'worker')
  const lost = parser.read(mail('lost'))
  const next = parser.read(mail('next'))
  const [worker] = (await started) as [Worker]
  await worker.terminate()
  assert.deepEqual(
    (await lost).files.map(({ name }) => name),
    ['message.eml'],
  )
  assert.equal((await next).text, 'next')
})

test('a mail that takes too long is kept as it came, and the next has its place', async () => {
  let alive = 0
  const count = (worker: Worker): void => {
    alive++
    worker.on('exit', () => alive--)
  }
  process.on('worker', count)
  // No thread has even begun by then.
  const parser = createMailParser({ atOnce: 1, longestMs: 1 })
  const read = await Promise.all(['one', 'two'].map((text) => parser.read(mail(text))))
  process.off('worker', count)
  assert.deepEqual(
    read.map(({ files }) => files.map(({ name }) => name)),
    [['message.eml'], ['message.eml']],
  )
  assert.equal(alive, 0)
})
