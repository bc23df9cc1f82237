import assert from 'node:assert/strict'
import { createParser } from 'eventsource-parser'
import type { StreamEvent } from '../../server/conversations/stream/reading.ts'

type Heard = { id: number; event: StreamEvent }

/** All events of a conversation that any reader has received, by id. */
export type EventLog = {
  add(heard: Heard): void
  /** Returns the events of the generation whose ids start after `base`, up to the first gap. */
  from(base: number): StreamEvent[]
  newest(): number | null
  /** Returns the ids of client action calls whose input was received. */
  calls(): string[]
}

export function createEventLog(): EventLog {
  const events = new Map<number, StreamEvent>()
  return {
    add({ id, event }) {
      const before = events.get(id)
      if (before) assert.deepEqual(event, before, `event ${id} differs between its readers`)
      else events.set(id, event)
    },
    from(base) {
      const found: StreamEvent[] = []
      for (let event = events.get(base + 1); event; event = events.get(base + found.length + 1))
        found.push(event)
      return found
    },
    newest: () => (events.size === 0 ? null : Math.max(...events.keys())),
    calls: () =>
      [...events.values()].flatMap((event) =>
        event.type === 'tool-input-available' && !event.providerExecuted ? [event.toolCallId] : [],
      ),
  }
}

/**
 * What a reader received. `died` means that the connection broke, `cut` that the stream ended without its end marker,
 * and `left` that the reader disconnected.
 */
export type Listened = { events: Heard[]; end: 'done' | 'cut' | 'left' | 'died' }

/** Reads a stream until it ends or a limit of events or milliseconds is reached. Asserts that the ids have no gaps. */
export async function listen(
  response: Response,
  log: EventLog,
  limits: { events: number | null; ms: number; onFirst?: (id: number) => void },
): Promise<Listened> {
  const events: Heard[] = []
  let isDone = false
  const parser = createParser({
    onEvent({ id, event: name, data }) {
      assert.equal(isDone, false, 'something follows [DONE]')
      if (data === '[DONE]') {
        isDone = true
        return
      }
      const heard = { id: Number(id), event: JSON.parse(data) as StreamEvent }
      assert.equal(name, heard.event.type)
      const before = events.at(-1)
      if (before) assert.equal(heard.id, before.id + 1, 'ids of events count on')
      else limits.onFirst?.(heard.id)
      events.push(heard)
      log.add(heard)
    },
    onError: (error) => assert.fail(error.message),
  })
  const reader = response.body!.getReader()
  const decoder = new TextDecoder()
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    reader.cancel().catch(() => {})
  }, limits.ms)
  try {
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return { events, end: isDone ? 'done' : isLate ? 'left' : 'cut' }
      parser.feed(decoder.decode(value, { stream: true }))
      if (limits.events !== null && events.length >= limits.events && !isDone) {
        await reader.cancel()
        return { events, end: 'left' }
      }
    }
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error
    return { events, end: 'died' }
  } finally {
    clearTimeout(timer)
  }
}
