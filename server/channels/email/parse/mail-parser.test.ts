import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { until } from '../../../../test/until.ts'
import { createMailParser } from './mail-parser.ts'

const mail = (text: string): Buffer => Buffer.from(`From: ann@example.com\r\nSubject: x\r\n\r\n${text}\r\n`)
/** Parsing this mail would take seconds. */
const bulky = mail('> a\r\n'.repeat(400_000))

const parser = createMailParser({ maxWaiting: 12, maxWaitingOfOne: 8 })
after(() => parser.close())

test('mails are read in two processes, and a sender of many leaves one of them free', async () => {
  // Both processes must have started, because a starting process takes no mail.
  await Promise.all(['c', 'd'].map((account) => parser.read(account, mail(account))))
  // This mail keeps one process busy for longer than the other one needs for a small mail, even under load.
  const long = '> a\r\n'.repeat(50_000)
  const order: string[] = []
  const read = (account: string, raw: Buffer) =>
    parser.read(account, raw).then(({ text }) => {
      order.push(account)
      assert.ok(parser.processes().length <= 2)
      return text.slice(0, 2)
    })
  const many = Array.from({ length: 8 }, (_, i) => read('a', mail(`a${i} ${i === 0 ? long : ''}`)))
  assert.deepEqual([parser.isFull('a'), parser.isFull('b')], [true, false])
  const other = read('b', mail('b'))
  assert.deepEqual(await Promise.all([...many, other]), [...many.map((_, i) => `a${i}`), 'b'])
  assert.equal(order[0], 'b', order.join())
  assert.equal(parser.isFull('a'), false)
})

test('a mail whose process is killed is kept unparsed, and the next mail is read', async () => {
  const busy = createMailParser({ maxWaitingOfOne: 1 })
  const lost = busy.read('a', bulky)
  await until('its process at work', () => !busy.isFull('a'))
  const next = busy.read('a', mail('next'))
  for (const pid of busy.processes()) process.kill(pid, 'SIGKILL')
  assert.deepEqual(
    (await lost).files.map(({ name }) => name),
    ['message.eml'],
  )
  assert.equal((await next).text, 'next')
  await busy.close()
})

test('a mail that takes too long is kept unparsed; one that was never started is to be sent again', async () => {
  const hasty = createMailParser({ maxMs: 1 })
  const read = await Promise.all(['a', 'b'].map((account) => hasty.read(account, bulky)))
  assert.deepEqual(
    read.map(({ files }) => files.map(({ name }) => name)),
    [['message.eml'], ['message.eml']],
  )
  const late = hasty.read('a', bulky)
  const expected = assert.rejects(late, { code: 'aborted' })
  await hasty.close()
  await expected
  assert.deepEqual(hasty.processes(), [])
})
