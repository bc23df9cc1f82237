import assert from 'node:assert/strict'
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { type MessagingHome, startMessagingHome } from '../../../../test/messaging-home.ts'
import { until } from '../../../../test/until.ts'
import { createApp } from '../../../app.ts'
import { MAX_LINGERING } from './admit-bodies.ts'

let home: MessagingHome
/** The same service with a shorter timeout for bodies. */
let hasty: FastifyInstance
let hastyPort: number

before(async () => {
  home = await startMessagingHome()
  // On a busy machine, bodies that were sent at once may arrive half a second apart.
  hasty = await createApp(home.service.ctx, { strict: true, pace: { everyMs: 2_000, bytesPerSecond: 2_000 } })
  await hasty.listen({ host: '127.0.0.1', port: 0 })
  hastyPort = (hasty.server.address() as AddressInfo).port
})
after(async () => {
  await hasty.close()
  await home.close()
})

const MB = 1_048_576
const SIGNATURE = `x-hub-signature-256: sha256=${'0'.repeat(64)}`

type Sent = { text: string; closed: boolean; end(): void }

/** Sends the head of a request and the given number of bytes, and collects the response. */
function post(path: string, headers: string[], bytes: number, port = hastyPort): Sent {
  const sent: Sent = { text: '', closed: false, end: () => socket.destroy() }
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  socket.on('close', () => {
    sent.closed = true
  })
  socket.on('data', (part) => {
    sent.text += part
  })
  socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\n${headers.join('\r\n')}\r\n\r\n`)
  socket.write(Buffer.alloc(bytes, ' '))
  return sent
}

const json = (length: number): string[] => ['content-type: application/json', `content-length: ${length}`]
const portOf = (url: string): number => Number(new URL(url).port)
const statusOf = ({ text }: Sent): string => text.slice(9, 12)

test('unauthorised senders are answered before the body is read', async () => {
  const port = portOf(home.service.url)
  const cases: [string, string[], string][] = [
    ['/webhooks/messaging/nobody', [SIGNATURE, ...json(4 * MB)], '401'],
    [`/webhooks/messaging/${home.agentId}`, json(4 * MB), '401'],
    ['/api/v2/agents', json(MB), '401'],
    ['/api/v2/nowhere', json(MB), '404'],
    ['/api/widget/nowhere', json(MB), '404'],
    ['/nowhere', json(MB), '413'],
    [`/api/widget/agents/${home.agentId}/messages`, json(70_000), '413'],
    ['/surveys/some-token', json(70_000), '413'],
  ]
  for (const [path, headers, status] of cases) {
    const sent = post(path, headers, 0, port)
    await until(`the answer of ${path}`, () => sent.text !== '')
    assert.equal(statusOf(sent), status, path)
    sent.end()
  }
})

test('data after an early response is drained for few connections only', async () => {
  const app = await createApp(home.service.ctx, { strict: true })
  try {
    await app.listen({ host: '127.0.0.1', port: 0 })
    const { port } = app.server.address() as AddressInfo
    const more = 8
    const all = Array.from({ length: MAX_LINGERING + more }, () =>
      post('/api/v2/agents', json(MB), MB / 4, port),
    )
    await until('the end of those beyond', () => all.filter(({ closed }) => closed).length >= more)
    for (const { text, closed } of all) assert.ok(closed || text === '' || text.startsWith('HTTP/1.1 401'))
    for (const sent of all) sent.end()
  } finally {
    await app.close()
  }
})

test("bodies that stop one byte short are cut off, and beyond a sender's share they are rejected", async () => {
  const path = `/webhooks/messaging/${home.agentId}`
  const short = Array.from({ length: 40 }, () => post(path, [SIGNATURE, ...json(2 * MB)], 2 * MB - 1))
  const keyed = post('/api/v2/agents', [`authorization: Bearer ${home.client.key}`, ...json(900)], 899)
  const slow = post('/api/v2/agents', [`authorization: Bearer ${home.client.key}`, ...json(900_000)], 10)
  await until('the end of all', () => [...short, keyed, slow].every(({ closed }) => closed))
  const refused = short.filter(({ text }) => text !== '')
  assert.ok(refused.length > 0 && refused.length < short.length, `${refused.length} refused`)
  for (const sent of refused) {
    assert.equal(statusOf(sent), '503')
    assert.doesNotMatch(sent.text, /^retry-after:/im)
    assert.match(sent.text, /SERVICE_OVERLOADED/)
  }
  assert.deepEqual([keyed.text, slow.text], ['', ''])
  const said = await home.say('after-the-flood', 0, 'Hello')
  assert.equal(said.status, 200)
})

test('uploads are on disk while they arrive, and unused ones are deleted', async () => {
  const { client, agentId, service } = home
  const folder = join(service.ctx.config.dataDir, 'uploads')
  const path = `/agents/${agentId}/sources`
  const bytes = Buffer.alloc(3 * MB, 'A line of text.\n')
  const authorization = `authorization: Bearer ${client.key}`
  const multipart = 'content-type: multipart/form-data; boundary=b'
  const head =
    '--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nThis much has come.'
  const socket = connect(portOf(service.url), '127.0.0.1')
  socket.on('error', () => {})
  socket.write(
    `POST /api/v2${path} HTTP/1.1\r\nhost: x\r\n${authorization}\r\n${multipart}\r\ncontent-length: 100000\r\n\r\n${head}`,
  )
  await until('a file', async () => (await readdir(folder).catch(() => [])).length === 1)
  socket.destroy()
  await until('its end', async () => (await readdir(folder)).length === 0)

  const send = async (name: string, content: Buffer, headers = {}) => {
    const form = new FormData()
    form.set('name', 'Lines')
    form.set('file', new Blob([new Uint8Array(content)]), name)
    const response = await client.raw('POST', path, { body: form, headers })
    await response.text()
    return response.status
  }
  assert.equal(await send('a.pdf', bytes), 422)
  assert.equal(await send('a.txt', Buffer.alloc(21 * MB, 'x')), 413)
  const key = { 'idempotency-key': 'once' }
  assert.deepEqual([await send('a.txt', bytes, key), await send('a.txt', bytes, key)], [201, 201])
  assert.equal(await send('a.txt', Buffer.alloc(10, 'y'), key), 409)
  assert.deepEqual(await readdir(folder), [])
})

test('uploads left by a dead process are deleted', async () => {
  const folder = join(home.service.ctx.config.dataDir, 'uploads')
  await mkdir(folder, { recursive: true })
  for (const name of ['old', 'new']) await writeFile(join(folder, name), 'x')
  await utimes(join(folder, 'old'), 1, 1)
  assert.equal(await home.service.ctx.uploads.sweep(60_000), 1)
  assert.deepEqual(await readdir(folder), ['new'])
  assert.equal(await home.service.ctx.uploads.sweep(0), 1)
})
