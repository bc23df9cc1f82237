import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mock, test } from 'node:test'
import { fastify } from 'fastify'
import type { FrameSource } from './reading.ts'
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

test('the first word does not wait for the pause between writes', async () => {
  const frames: string[] = []
  let tell = (): void => {}
  const source: FrameSource = {
    get count() {
      return frames.length
    },
    held: (from) => frames.slice(from),
    logged: async () => [],
    ended: false,
    broken: false,
    watch(listener) {
      tell = listener
      return () => {}
    },
  }
  const say = (frame: string): void => {
    frames.push(frame)
    tell()
  }
  const app = fastify()
  app.get('/', async (_request, reply) => {
    sendStream(reply, source)
    return reply
  })
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  try {
    const { body } = await fetch(address)
    const reader = body!.pipeThrough(new TextDecoderStream()).getReader()
    // From here on, no timer of the stream fires.
    mock.timers.enable({ apis: ['setTimeout'] })
    const words = ['start', ' first', ' second', ' third']
    for (const word of words.slice(0, 2)) {
      say(word)
      assert.equal((await reader.read()).value, word)
    }
    for (const word of words.slice(2)) say(word)
    const rest = reader.read()
    await new Promise(setImmediate)
    mock.timers.tick(20)
    assert.equal((await rest).value, ' second third')
  } finally {
    mock.timers.reset()
    app.server.closeAllConnections()
    await app.close()
  }
})

test('words are not skipped while it is unclear which process has ended the answer', async () => {
  const frames = ['a', 'b']
  const state = { ended: false, showing: 'allowed' as 'allowed' | 'lost' }
  let tell = (): void => {}
  const source: FrameSource = {
    get count() {
      return frames.length
    },
    held: (from) => frames.slice(from),
    logged: async () => [],
    get ended() {
      return state.ended
    },
    broken: false,
    showing: () => state.showing,
    watch(listener) {
      tell = listener
      return () => {}
    },
  }
  const app = fastify()
  app.get('/', async (_request, reply) => {
    sendStream(reply, source, 0, { headers: {}, ping: null, done: '.' })
    return reply
  })
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  try {
    const { body } = await fetch(address)
    const reader = body!.pipeThrough(new TextDecoderStream()).getReader()
    assert.equal((await reader.read()).value, 'ab')
    // A late piece of the log is refused, because the end is stored already.
    state.showing = 'lost'
    frames.push('c')
    tell()
    await new Promise((done) => setTimeout(done, 50))
    frames.push('d')
    Object.assign(state, { ended: true, showing: 'allowed' })
    tell()
    let rest = ''
    for (let next = await reader.read(); !next.done; next = await reader.read()) rest += next.value
    assert.equal(rest, 'cd.')
  } finally {
    await app.close()
  }
})
