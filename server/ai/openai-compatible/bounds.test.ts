import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { until } from '../../../test/until.ts'
import { streamModel } from '../calls/call-model.ts'
import { ModelFailure } from '../failures/model-failure.ts'
import {
  chunk,
  END,
  finishOf,
  type RawServer,
  sendForEver,
  startRawServer,
  stream,
  textOf,
} from './fixtures/raw-server.ts'

let server: RawServer

before(async () => {
  server = await startRawServer()
})
after(() => server.close())

const failsAs = (kind: string) => (error: unknown) => {
  assert.ok(error instanceof ModelFailure, `${error}`)
  assert.equal(error.kind, kind, `${error.cause}`)
  return true
}

// This test comes first: an aborted call leaves a place in the pool that is used before the open connection.
for (const id of ['own', 'package']) {
  test(`ten consecutive calls use one connection (${id})`, async () => {
    const used = new Set<unknown>()
    let ended = 0
    server.answerWith(async (response, request) => {
      used.add(request.socket)
      stream(response).write(chunk({ content: 'Hello' }) + END)
      // The body ends a moment after its end marker, as it does behind a proxy.
      await wait(5)
      response.end(() => ended++)
    })
    for (let i = 0; i < 10; i++) {
      assert.equal(textOf(await server.call(id)), 'Hello')
      await until('the end of the body', () => ended > i)
      await wait(100)
    }
    assert.equal(used.size, 1)
  })
}

for (const id of ['own', 'package']) {
  test(`an endless line is cut off, and the model is not called again (${id})`, async () => {
    const { bytes, count } = server.closed
    server.answerWith(async (response) => {
      stream(response).write('data: {"choices":[{"delta":{"content":"')
      await sendForEver(response, Buffer.alloc(64 * 1024, 'a'))
    })
    await assert.rejects(server.call(id), failsAs('invalid_response'))
    await until('the end of the connection', () => server.closed.count > count)
    assert.equal(server.requests.length, 1)
    // In addition to what was read, both ends of the connection have buffers.
    assert.ok(server.closed.bytes - bytes < 16 * 1024 * 1024, `${server.closed.bytes - bytes} bytes`)
  })

  test(`a line of 60 MB is cut off (${id})`, async () => {
    const { count } = server.closed
    server.answerWith((response) => {
      stream(response).end(chunk({ content: 'a'.repeat(60 * 1024 * 1024) }))
    })
    await assert.rejects(server.call(id), failsAs('invalid_response'))
    await until('the end of the connection', () => server.closed.count > count)
    assert.equal(server.requests.length, 1)
  })

  test(`an excessively long text ends as at the model's own limit (${id})`, async () => {
    const { count } = server.closed
    server.answerWith(async (response) => {
      stream(response)
      await sendForEver(response, chunk({ content: 'word '.repeat(50) }))
    })
    const parts = await server.call(id)
    await until('the end of the connection', () => server.closed.count > count)
    assert.equal(finishOf(parts), 'length')
    assert.ok(textOf(parts).length <= 20_000, `${textOf(parts).length}`)
    assert.equal(parts.filter(({ type }) => type === 'text-end').length, 1)
    assert.equal(server.requests.length, 1)
  })

  test(`an excessively long tool input fails, and the model is not called again (${id})`, async () => {
    server.answerWith(async (response) => {
      const begin = {
        index: 0,
        id: 'a',
        type: 'function',
        function: { name: 'weather', arguments: '{"a":"' },
      }
      stream(response).write(chunk({ tool_calls: [begin] }))
      await sendForEver(
        response,
        chunk({ tool_calls: [{ index: 0, function: { arguments: 'a'.repeat(900) } }] }),
      )
    })
    await assert.rejects(server.call(id), failsAs('invalid_response'))
    assert.equal(server.requests.length, 1)
  })
}

for (const id of ['own', 'package']) {
  test(`a model that is faster than its reader is read at the reader's pace (${id})`, async () => {
    server.answerWith((response) => {
      stream(response).end(
        `${Array.from({ length: 3_000 }, (_, i) => chunk({ content: `${i} ` })).join('')}${END}`,
      )
    })
    const { signal } = new AbortController()
    const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Hello?' }] }]
    let largest = 0
    let text = ''
    for await (const parts of streamModel(server.models.resolve(id)!, { prompt }, { signal })) {
      largest = Math.max(largest, parts.length)
      text += textOf(parts)
      await wait(2)
    }
    assert.equal(text, Array.from({ length: 3_000 }, (_, i) => `${i} `).join(''))
    // A read of the network brings at most 64 KiB, and with them about a thousand parts.
    assert.ok(largest < 2_000, `${largest} parts waited`)
  })
}

test('a body without content is cut off by its size', async () => {
  server.answerWith(async (response) => {
    stream(response)
    await sendForEver(response, `: ${'x'.repeat(60_000)}\n`)
  })
  await assert.rejects(server.call('own'), failsAs('invalid_response'))
  assert.equal(server.requests.length, 1)
})
