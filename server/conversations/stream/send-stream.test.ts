import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { fastify } from 'fastify'
import type { FrameSource } from './growing-reading.ts'
import { sendStream } from './send-stream.ts'

test('a client that left before the first event leaves nothing behind', async () => {
  const watching = new Set<() => void>()
  const source: FrameSource = {
    count: 0,
    held: () => [],
    logged: async () => [],
    ended: false,
    broken: false,
    watch(listener) {
      watching.add(listener)
      return () => watching.delete(listener)
    },
  }
  const asked = Promise.withResolvers<void>()
  const sent = Promise.withResolvers<void>()
  const app = fastify()
  app.get('/', async ({ raw }, reply) => {
    asked.resolve()
    if (!raw.socket.closed) await once(raw.socket, 'close')
    // The socket emits this before the reply does.
    await new Promise(setImmediate)
    sendStream(reply, source)
    sent.resolve()
    return reply
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  try {
    const before = timers()
    const leaving = request({ port, host: '127.0.0.1' }).on('error', () => {})
    leaving.end()
    await asked.promise
    leaving.destroy()
    await sent.promise
    assert.equal(watching.size, 0)
    assert.ok(timers() <= before, 'no ping goes on')
  } finally {
    await app.close()
  }
})
