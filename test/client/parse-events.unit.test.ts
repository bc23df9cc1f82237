import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createParser } from 'eventsource-parser'
import fc from 'fast-check'
import { parseEvents, type ServerSentEvent } from '../../client/parse-events.ts'

async function parse(pieces: Uint8Array[]): Promise<ServerSentEvent[]> {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece)
      controller.close()
    },
  })
  const events: ServerSentEvent[] = []
  for await (const event of parseEvents(body, { silenceMs: 1_000 })) events.push(event)
  return events
}

function expected(text: string): ServerSentEvent[] {
  const events: ServerSentEvent[] = []
  const parser = createParser({ onEvent: ({ id, data }) => events.push({ id, data }) })
  parser.feed(text)
  return events
}

test('events do not depend on how their bytes are split, nor on the line ends', async () => {
  const line = fc.oneof(
    fc.constantFrom(
      '',
      '',
      'data',
      'data:',
      'data: ',
      ': ping',
      'event: text-delta',
      'retry: 5',
      'unknown: x',
    ),
    fc.integer({ min: 1, max: 999 }).map((id) => `id: ${id}`),
    fc.string({ unit: 'grapheme' }).map((text) => `data: ${text.replace(/[\r\n]/g, '')}`),
    fc.string().map((text) => `data:${text.replace(/[\r\n]/g, '')}`),
  )
  const lines = fc.array(fc.tuple(line, fc.constantFrom('\n', '\r\n', '\r')), { maxLength: 30 })
  await fc.assert(
    fc.asyncProperty(lines, fc.array(fc.nat(400), { maxLength: 12 }), async (written, cuts) => {
      // A single CR at the end of the text would be held back until more text follows.
      const text = `${written.map(([content, end]) => content + end).join('')}\ndata: last\n\n`
      const bytes = new TextEncoder().encode(text)
      const places = [0, ...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length]
      const pieces = places.slice(1).map((end, index) => bytes.slice(places[index], end))
      assert.deepEqual(await parse(pieces), expected(text))
    }),
    { numRuns: 300 },
  )
})

test('an event without a final empty line is ignored', async () => {
  assert.deepEqual(await parse([new TextEncoder().encode('data: a\n\ndata: b\n')]), [
    { id: undefined, data: 'a' },
  ])
})
