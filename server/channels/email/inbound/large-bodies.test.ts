import { type AddressInfo, connect } from 'node:net'
import { after, before, test } from 'node:test'
import { type FastifyInstance, fastify } from 'fastify'
import { until } from '../../../../test/until.ts'
import { admitLargeBodies } from './large-bodies.ts'

const LARGE = 1_048_577
const OFTEN_MS = 20

let app: FastifyInstance
let port: number

before(async () => {
  app = fastify()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  const admit = admitLargeBodies({ maxMs: 300 })
  app.post(
    '/',
    { bodyLimit: LARGE, onRequest: async (request, reply) => admit(request, reply) },
    async () => 'ok',
  )
  await app.listen({ host: '127.0.0.1', port: 0 })
  port = (app.server.address() as AddressInfo).port
})
after(() => app.close())

/** Sends a large body so slowly that it never ends. */
function drip() {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write(`POST / HTTP/1.1\r\nhost: x\r\ncontent-type: a/b\r\ncontent-length: ${LARGE}\r\n\r\n`)
  const timer = setInterval(() => socket.write('x'), OFTEN_MS)
  socket.on('close', () => clearInterval(timer))
  return socket.resume()
}

test('slow large bodies are cut off and release their places', async () => {
  const slow = Array.from({ length: 4 }, drip)
  await until('the end of all', () => slow.every((socket) => socket.closed))
  const send = () =>
    fetch(`http://127.0.0.1:${port}/`, {
      method: 'POST',
      headers: { 'content-type': 'a/b' },
      body: new Uint8Array(LARGE),
    })
  // On a slow machine, this body may be cut off, too.
  await until('a free place', () =>
    send().then(
      ({ status }) => status === 200,
      () => false,
    ),
  )
})
