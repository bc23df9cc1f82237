import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { type AccountWorld, fillAccount } from '../../../../test/account-world.ts'
import { type Operation, operationsOf, pathOf, titleOf } from '../../../../test/operations.ts'
import { type Service, startService } from '../../../../test/start.ts'
import { createApp } from '../../../app.ts'
import { createUploads } from './uploads.ts'

/** Sends broken multipart bodies to every endpoint that takes one. */

let service: Service
let world: AccountWorld
let operations: Operation[]
/** The same service with a shorter timeout for bodies. */
let hasty: FastifyInstance

before(async () => {
  // The service trusts a proxy, so that requests can come from many addresses and stay within the rate limits.
  service = await startService({ TRUSTED_PROXIES: '127.0.0.1' }, undefined, { idle: true })
  world = await fillAccount(service, 'forms')
  operations = operationsOf(service.ctx).filter(({ endpoint }) => endpoint.multipart)
  const pace = { everyMs: 1_000, bytesPerSecond: 4_096 }
  const uploads = createUploads(join(service.ctx.config.dataDir, 'uploads'), service.ctx.space, pace)
  hasty = await createApp({ ...service.ctx, uploads }, { strict: true })
  await hasty.listen({ host: '127.0.0.1', port: 0 })
})
after(async () => {
  await hasty.close()
  await service.close()
})

type Body = {
  bytes: string
  /** By default that of the parts. */
  boundary?: string
  /** By default the length of the bytes; null sends them in chunks, of which the last one is missing. */
  length?: number | null
  /** What follows the bytes, outside of the chunks. */
  rest?: string
  /** The client ends its side of the connection after the bytes. */
  isEnded?: boolean
}

const field = '--b\r\nContent-Disposition: form-data; name="name"\r\n\r\nLines\r\n'

function brokenBodies(file: string, bytes: number): Record<string, Body> {
  const text = 'A line of text.\n'.repeat(Math.ceil(bytes / 16))
  const start = `--b\r\nContent-Disposition: form-data; name="${file}"; filename="a.txt"\r\n\r\n`
  const cut = `${field}${start}${text}`
  const whole = `${cut}\r\n--b--\r\n`
  const inPart = (disposition: string) => `--b\r\n${disposition}\r\n\r\n${text}\r\n--b--\r\n`
  return {
    'no boundary in the header': { bytes: whole, boundary: '' },
    'another boundary than in the header': { bytes: whole, boundary: 'c' },
    'no final boundary': { bytes: cut },
    'half of the final boundary': { bytes: `${cut}\r\n--b-` },
    'a next part that never begins': { bytes: `${cut}\r\n--b\r\n` },
    'a part that ends in its head': { bytes: `${field}--b\r\nContent-Dispos` },
    'a head that never ends': { bytes: `${start.trimEnd()}\r\n${text}` },
    'no disposition': { bytes: inPart('Content-Type: text/plain') },
    'a file without a name': { bytes: inPart('Content-Disposition: form-data; filename="a.txt"') },
    'a field without a name': { bytes: inPart('Content-Disposition: form-data') },
    'no parts': { bytes: text },
    'less declared than sent': { bytes: whole, length: whole.length - 6 },
    'much less declared than sent': { bytes: whole, length: field.length + start.length + 1 },
    'more declared than sent': { bytes: whole, length: whole.length + 1_000, isEnded: true },
    'an end in the file': { bytes: cut, length: whole.length, isEnded: true },
    'an end in a field': { bytes: field.slice(0, -4), length: whole.length, isEnded: true },
    'chunks that end in the file': { bytes: cut, length: null, isEnded: true },
    'chunks of a whole form without the last one': { bytes: whole, length: null, isEnded: true },
    'a chunk that is none': { bytes: cut, length: null, rest: 'no chunk\r\n' },
  }
}

let requests = 0

/** Sends a request and resolves to the response. Nothing is read before everything has been sent. */
function send(
  port: number,
  operation: Operation,
  { bytes, boundary = 'b', length, rest = '', isEnded }: Body,
) {
  const { prefix, endpoint } = operation
  const n = requests++
  const size = length === undefined ? bytes.length : length
  const head = [
    `${endpoint.method} ${pathOf(operation, { ...world.ids, ...world.idsOf[endpoint.name] })} HTTP/1.1`,
    'host: x',
    `x-forwarded-for: 10.1.${n >> 8}.${n & 255}`,
    `authorization: Bearer ${prefix === '/api/widget' ? 'v'.repeat(43) : world.client.key}`,
    `content-type: multipart/form-data${boundary && `; boundary=${boundary}`}`,
    size === null ? 'transfer-encoding: chunked' : `content-length: ${size}`,
  ]
  return new Promise<string>((resolve, fail) => {
    const socket = connect(port, '127.0.0.1').setEncoding('utf8')
    let text = ''
    socket.on('error', fail)
    socket.on('close', () => resolve(text))
    const chunk = size === null ? `${bytes.length.toString(16)}\r\n${bytes}\r\n` : bytes
    socket.write(`${head.join('\r\n')}\r\n\r\n${chunk}${rest}`, () => {
      socket.on('data', (part) => {
        text += part
        const [, shown, body = ''] = /\r\ncontent-length: (\d+)[\s\S]*?\r\n\r\n([\s\S]*)/i.exec(text) ?? []
        if (Buffer.byteLength(body) >= Number(shown)) socket.destroy()
      })
    })
    if (isEnded) socket.end()
  })
}

function assertRefused(text: string, { prefix }: Operation, title: string): void {
  assert.equal(text.slice(0, 12), 'HTTP/1.1 400', `${title}: ${text}`)
  const body = JSON.parse(text.split('\r\n\r\n')[1] ?? '')
  if (prefix === '/api/v1') assert.deepEqual(body, { message: 'Invalid request data' }, title)
  else assert.equal(body.error.code, 'VALIDATION_INVALID_BODY', title)
}

/** Everything that an upload can leave behind. */
async function leftBehind() {
  const { db, filesDir, config } = service.ctx
  const filesIn = async (folder: string) =>
    (await readdir(folder, { recursive: true }).catch(() => [])).sort()
  return {
    sources: await db.selectFrom('sources').selectAll().orderBy('id').execute(),
    attachments: await db.selectFrom('attachments').selectAll().orderBy('id').execute(),
    files: await filesIn(filesDir),
    uploads: await filesIn(join(config.dataDir, 'uploads')),
  }
}

const portOf = (app: FastifyInstance): number => (app.server.address() as AddressInfo).port

for (const bytes of [16, 4_194_304]) {
  test(`a broken form of ${bytes} bytes is answered by every endpoint, and nothing of it stays`, async () => {
    const port = Number(new URL(service.url).port)
    const before = await leftBehind()
    for (const operation of operations) {
      const { file = '', maxBytes = 0 } = operation.endpoint.multipart ?? {}
      const cases = Object.entries(brokenBodies(file, Math.min(bytes, maxBytes / 2)))
      const answers = await Promise.all(cases.map(([, body]) => send(port, operation, body)))
      for (const [at, text] of answers.entries())
        assertRefused(text, operation, `${titleOf(operation)}, ${cases[at]?.[0]}`)
    }
    assert.deepEqual(before.uploads, [])
    assert.deepEqual(await leftBehind(), before)
  })
}

test('a form whose rest never comes is answered when its time is over', async () => {
  for (const operation of operations) {
    const file = operation.endpoint.multipart?.file ?? ''
    const { bytes = '' } = brokenBodies(file, 16)['no final boundary'] ?? {}
    const rest = [bytes, `${bytes}\r\n--b--\r\n`].map((sent) =>
      send(portOf(hasty), operation, { bytes: sent, length: 100_000 }),
    )
    for (const text of await Promise.all(rest)) assertRefused(text, operation, titleOf(operation))
  }
  assert.deepEqual((await leftBehind()).uploads, [])
})
