import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRequests } from '../../client/requests.ts'

/** Answers the requests one after another, and repeats the last answer forever. */
function scripted(answers: (() => Response)[]) {
  let asked = 0
  const fetch = async (): Promise<Response> =>
    (answers[Math.min(asked++, answers.length - 1)] ?? Response.error)()
  return { requests: createRequests({ baseUrl: 'http://x', fetch }), asked: () => asked }
}

const stream = (text: string) => () =>
  new Response(text, { headers: { 'content-type': 'text/event-stream' } })
const refusal = (status: number) => () => Response.json({ error: { code: 'X', message: 'No.' } }, { status })

test('a followed stream ends with an error response and is not reopened', async () => {
  const { requests, asked } = scripted([stream('id: 1\ndata: {"n":1}\n\n'), refusal(403)])
  const seen: unknown[] = []
  await assert.rejects(
    async () => {
      for await (const data of requests.follow('/events', {})) seen.push(data)
    },
    { status: 403 },
  )
  assert.deepEqual([seen, asked()], [[{ n: 1 }], 2])
})

test('a stream that breaks is reopened', async () => {
  const { requests } = scripted([
    refusal(503),
    stream('id: 1\ndata: {"n":1}\n\n'),
    stream('id: 2\ndata: {"n":2}\n\n'),
  ])
  const abort = new AbortController()
  const seen: unknown[] = []
  for await (const data of requests.follow('/events', { signal: abort.signal })) {
    seen.push(data)
    if (seen.length === 2) abort.abort()
  }
  assert.deepEqual(seen, [{ n: 1 }, { n: 2 }])
})

test('reading and following do not wait for ever for a response', async () => {
  let asked = 0
  const fetch = (async (_: unknown, { signal }: RequestInit) => {
    if (asked++ === 1) return stream('id: 1\ndata: {"n":1}\n\n')()
    return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
  }) as typeof globalThis.fetch
  const patience = { responseMs: 30, firstDelayMs: 1, longestDelayMs: 1 }
  const requests = createRequests({ baseUrl: 'http://x', fetch, patience })
  const abort = new AbortController()
  for await (const data of requests.follow('/events', { signal: abort.signal })) {
    assert.deepEqual(data, { n: 1 })
    abort.abort()
  }
  await assert.rejects(requests.request('GET', '/agents'), /Nothing arrived for 30 ms/)
})
