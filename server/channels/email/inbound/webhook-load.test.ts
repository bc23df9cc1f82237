import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdir, stat } from 'node:fs/promises'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { connectTestMailbox, mail, type TestMailbox } from '../../../../test/mailbox.ts'
import { type Service, startService } from '../../../../test/start.ts'
import { until } from '../../../../test/until.ts'

const LARGE = 2 * 1024 * 1024

let service: Service
let box: TestMailbox

before(async () => {
  service = await startService()
  box = await connectTestMailbox(service, await service.account(), { smtpPort: 1, mode: 'tickets' })
})
after(() => service.close())

/** Returns plausible headers of a large mail whose body never arrives. */
function open(headers: Record<string, string | number> = {}): ClientRequest {
  const sent = request(`${service.url}/webhooks/email/${box.agentId}`, {
    method: 'POST',
    headers: {
      'content-type': 'message/rfc822',
      'content-length': LARGE,
      'x-timestamp': Math.floor(Date.now() / 1000),
      'x-signature': 'a'.repeat(64),
      ...headers,
    },
  })
  sent.on('error', () => {})
  sent.flushHeaders()
  return sent
}

/** Returns the status for a large mail with a wrong signature, which is 401 when its body was read. */
const largeOne = () => box.post('x'.repeat(LARGE), { 'x-signature': 'b'.repeat(64) })

test('few large bodies are accepted at a time; further ones are told to retry, and small mails pass', async () => {
  const held = Array.from({ length: 5 }, () => open())
  const answered = held.map(async (one) => {
    const [response] = (await once(one, 'response')) as [IncomingMessage]
    return { one, response }
  })
  const { one: fifth, response: refused } = await Promise.race(answered)
  assert.deepEqual([refused.statusCode, refused.headers['retry-after']], [503, undefined])
  assert.match((await refused.toArray()).join(''), /"SERVICE_OVERLOADED"/)
  await box.receive(mail('A small one'))
  const unsigned = open({ 'x-signature': 'c' })
  const [nobody] = await once(unsigned, 'response')
  assert.equal(nobody.statusCode, 401, 'known without its body, and without a place')
  unsigned.destroy()
  held.find((one) => one !== fifth)?.destroy()
  await until('a free place', async () => (await largeOne()).status === 401)
  for (const one of held) one.destroy()
  await until('all of them', async () => {
    const answers = await Promise.all(Array.from({ length: 4 }, largeOne))
    return answers.every(({ status }) => status === 401)
  })
})

test('while many mails wait to be read, the next sender is told to retry', async () => {
  const raw = mail('Once', { Subject: '' })
  const waiting = Array.from({ length: 200 }, (_, n) =>
    service.ctx.mailParser.read(`account ${n % 4}`, Buffer.from(mail('Before it'))),
  )
  const refused = await box.post(raw)
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, null])
  await Promise.all(waiting)
  await box.receive(raw)
  assert.equal((await box.inbound()).filter(({ content }) => content.text === 'Once').length, 1)
})

test('an incoming mail is stored on disk, and nothing of it remains', async () => {
  const folder = join(service.ctx.config.dataDir, 'uploads')
  const sent = open({ 'content-length': LARGE })
  sent.write('x'.repeat(LARGE - 1))
  await until('the body on the disk', async () => {
    const names = await readdir(folder).catch(() => [])
    const sizes = await Promise.all(names.map((name) => stat(join(folder, name)).then(({ size }) => size)))
    return sizes.some((size) => size > LARGE / 2)
  })
  sent.destroy()
  await until('an empty folder', async () => (await readdir(folder)).length === 0)
  await box.receive(mail('After it'))
  assert.deepEqual(await readdir(folder), [])
})
