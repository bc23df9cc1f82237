import assert from 'node:assert/strict'
import { type AddressInfo, connect, createServer } from 'node:net'
import { test } from 'node:test'
import type { AnswerEvent } from '../../client/events.ts'
import { createParley } from '../../client/parley.ts'
import { V2 } from '../../server/platform/http/contract.ts'
import { startModelServer } from '../fakes/model-server.ts'
import { tokens } from '../fakes/reply.ts'
import { startService } from '../start.ts'

/** Opens a proxy whose connection breaks once, after a given number of bytes of the service's responses. */
async function breakingWire(target: URL) {
  let left = Number.POSITIVE_INFINITY
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname)
    near.pipe(far)
    far.on('data', (bytes) => {
      near.write(bytes.subarray(0, left))
      left -= bytes.length
      if (left > 0) return
      left = Number.POSITIVE_INFINITY
      near.end(() => near.destroy())
      far.destroy()
    })
    for (const [one, another] of [
      [near, far],
      [far, near],
    ] as const) {
      one.on('error', () => another.destroy())
      one.on('close', () => another.destroy())
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    breakAfter: (bytes: number) => {
      left = bytes
    },
    close: () => server.close(),
  }
}

test('wherever the connection to the service breaks, an answer arrives once and completely', async () => {
  const models = await startModelServer()
  const service = await startService({
    OPENAI_BASE_URL: `${models.url}/v1`,
    OPENAI_API_KEY: 'sk-test',
    OPENAI_MODEL: 'fake-model',
  })
  const client = await service.account()
  const agentId = (await client.request('POST', '/agents', { name: 'Agent' })).body.id
  const wire = await breakingWire(new URL(service.url))
  const parley = createParley({
    baseUrl: `${wire.url}${V2}`,
    headers: { authorization: `Bearer ${client.key}` },
    patience: { firstDelayMs: 5, longestDelayMs: 20 },
  })
  let conversationId: string | undefined
  let turns = 0
  for (const delayMs of [0, 4]) {
    for (let bytes = 100; bytes < 3_000; bytes += 290) {
      models.queue.push({ tokens: tokens(12), delayMs })
      wire.breakAfter(bytes)
      const events: AnswerEvent[] = []
      for await (const { event } of await parley.chat(agentId, { message: 'Hello', conversationId })) {
        events.push(event)
        if (event.type === 'message-metadata') conversationId = event.messageMetadata.conversationId
      }
      const text = events.map((event) => (event.type === 'text-delta' ? event.delta : '')).join('')
      assert.equal(text, tokens(12).join(''), `after ${bytes} bytes`)
      const types = events.map(({ type }) => type)
      assert.deepEqual([types[0], types.at(-1)], ['start', 'finish'])
      for (const once of ['start', 'text-start', 'text-end', 'finish-step', 'finish']) {
        assert.equal(types.filter((type) => type === once).length, 1, `${once} after ${bytes} bytes`)
      }
      turns += 1
      wire.breakAfter(Number.POSITIVE_INFINITY)
    }
  }
  const path = `/agents/${agentId}/conversations/${conversationId}/messages?limit=1`
  assert.equal((await client.request('GET', path)).body.pagination.total, turns * 2)
  wire.close()
  await service.close()
  await models.close()
})
