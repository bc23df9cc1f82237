import assert from 'node:assert/strict'
import { readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai'
import { Ajv } from 'ajv'
import { createParser } from 'eventsource-parser'
import { StreamEvent } from '../server/conversations/records/schema.ts'

const isStreamEvent = new Ajv({ strict: false, discriminator: true }).compile(StreamEvent)

type StreamedEvent = { id: string | undefined; event: string | undefined; data: UIMessageChunk }

/**
 * Reads a chat stream to its end with eventsource-parser and with the AI SDK's reader, and asserts that both
 * understand it: ids start after `after` and increase, event names repeat the type, and [DONE] comes last.
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
      // Visitors are not shown the cost of an answer, so their events are not checked against the schema.
      assert.ok(
        response.url.includes('/api/widget/') || isStreamEvent(parsed),
        `${data} is not as the contract says: ${JSON.stringify(isStreamEvent.errors)}`,
      )
      // The first event is never missing. Later ids may have gaps, for events that are not meant for this reader.
      const before = Number(events.at(-1)?.id ?? after)
      assert.ok(
        events.length === 0 ? Number(id) === before + 1 : Number(id) > before,
        `${id} after ${before}`,
      )
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
