import assert from 'node:assert/strict'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, type TestContext, test } from 'node:test'
import { type FastifyInstance, fastify } from 'fastify'
import { until } from '../../../../test/until.ts'
import { type EventStream, eventStream, PING } from './event-stream.ts'

/** More than the buffers of sockets hold. */
const MUCH = 'x'.repeat(32 * 1_048_576)

let app: FastifyInstance
let reader: Socket

afterEach(async () => {
  reader.destroy()
  await app.close()
})

/** Opens a stream whose reader does not read yet. The test controls its timers. */
async function begin(t: TestContext) {
  const told = { ready: 0, closed: 0 }
  const opened = Promise.withResolvers<EventStream>()
  app = fastify()
  app.get('/', async (_request, reply) => {
    const stream = eventStream(reply)
    stream.open({
      headers: { 'content-type': 'text/event-stream' },
      ping: PING,
      onReady: () => told.ready++,
      onClose: () => told.closed++,
    })
    opened.resolve(stream)
    return reply
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
  const { port } = app.server.address() as AddressInfo
  reader = connect(port, '127.0.0.1', () => reader.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')).pause()
  reader.on('error', () => {})
  return { told, stream: await opened.promise }
}

function takeFrom(reader: Socket): { length: number; rest: string } {
  const received = { length: 0, rest: '' }
  reader.on('data', (chunk) => {
    received.length += chunk.length
    received.rest = (received.rest + chunk).slice(-40)
  })
  reader.resume()
  return received
}

test('a reader that does not read is disconnected after 30 s', async (t) => {
  const { told, stream } = await begin(t)
  stream.write(MUCH)
  t.mock.timers.tick(29_999)
  assert.deepEqual([stream.isReady(), told], [false, { ready: 0, closed: 0 }])
  t.mock.timers.tick(1)
  t.mock.timers.reset()
  await until('the end', () => told.closed === 1)
  reader.resume()
  await until('the end for the reader', () => reader.closed)
})

test('a slow reader gets everything, and no ping while its socket is full', async (t) => {
  const { told, stream } = await begin(t)
  stream.write(MUCH)
  t.mock.timers.tick(29_000)
  const received = takeFrom(reader)
  while (told.ready === 0) await new Promise(setImmediate)
  t.mock.timers.tick(1_000)
  stream.end('end')
  t.mock.timers.reset()
  await until('the end', () => received.rest.endsWith('\r\n0\r\n\r\n'))
  assert.match(received.rest, /x\r\n8\r\n: ping\n\n\r\n3\r\nend\r\n0\r\n\r\n$/)
  assert.ok(received.length > MUCH.length)
  assert.deepEqual(told, { ready: 1, closed: 1 })
})
