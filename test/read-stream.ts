import assert from 'node:assert/strict'
import { readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai'
import { createParser } from 'eventsource-parser'

export type StreamedEvent = { id: string | undefined; event: string | undefined; data: UIMessageChunk }

/**
 * Reads a chat stream to its end, by eventsource-parser and by the AI SDK's own reader, and checks that both
 * understand it: ids count from 1 (or `after`), names repeat the type, [DONE] is last.
 */
export async function readStream(
  response: Response,
  after = 0,
): Promise<{ events: StreamedEvent[]; text: string; message: UIMessage | undefined }> {
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('content-type'), 'text/event-stream')
  assert.equal(response.headers.get('x-vercel-ai-ui-message-stream'), 'v1')
  assert.equal(response.headers.get('content-encoding'), null)
  const events: StreamedEvent[] = []
  let isDone = false
  const parser = createParser({
    onEvent({ id, event, data }) {
      assert.equal(isDone, false, 'nothing follows [DONE]')
      if (data === '[DONE]') {
        isDone = true
        return
      }
      const parsed = JSON.parse(data) as UIMessageChunk
      assert.equal(event, parsed.type)
      assert.equal(id, String(after + events.length + 1))
      events.push({ id, event, data: parsed })
    },
    onError: (error) => assert.fail(error.message),
  })
  parser.feed(await response.text())
  assert.ok(isDone, 'the stream ends with [DONE]')
  const text = events.map(({ data }) => (data.type === 'text-delta' ? data.delta : '')).join('')
  return { events, text, message: after === 0 ? await readBySdk(events) : undefined }
}

async function readBySdk(events: StreamedEvent[]): Promise<UIMessage | undefined> {
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      for (const { data } of events) controller.enqueue(data)
      controller.close()
    },
  })
  const errors: unknown[] = []
  let last: UIMessage | undefined
  for await (const message of readUIMessageStream({ stream, onError: (error) => errors.push(error) }))
    last = message
  const announced = events.filter(({ data }) => data.type === 'error').length
  assert.equal(errors.length, announced, `the SDK reports ${errors.map(String)}`)
  return last
}
