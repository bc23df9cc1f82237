import type { AnswerEvent } from '../../client/events.ts'
import { parseEvents } from '../../client/parse-events.ts'
import { createTries, usualPatience } from '../../client/patience.ts'
import type { ChatParts } from './chat-parts.ts'
import type { Source } from './types.ts'

/** Thrown when the connection ended before the answer did. */
class BrokenStream extends Error {
  readonly afterMs: number

  constructor(afterMs = 0) {
    super('The stream ended before the answer did.')
    this.afterMs = afterMs
  }
}

/**
 * Shows an answer as it is streamed, until it ends or no answer is being generated any more; the stored message then
 * holds the rest. A broken connection is reopened after the last event received. Throws when that fails for too long,
 * and when `signal` aborts.
 */
export async function followAnswer(
  { api, store }: ChatParts,
  conversationId: string,
  signal: AbortSignal,
): Promise<{ failed: boolean }> {
  const tries = createTries(usualPatience, usualPatience.giveUpMs)
  const told = { failed: false }
  let lastEventId: string | undefined
  for (;;) {
    try {
      const body = await api.stream(conversationId, lastEventId, signal)
      store.set({ connection: 'fine' })
      if (!body) return told
      for await (const { id, data } of parseEvents(body, { ...usualPatience, signal })) {
        if (data === '[DONE]') return told
        const event: AnswerEvent = JSON.parse(data)
        if (event.type === 'data-reattach')
          throw new BrokenStream((event.data as { afterMs: number }).afterMs)
        // After a reconnection, some events may be repeated.
        if (id !== undefined && lastEventId !== undefined && Number(id) <= Number(lastEventId)) continue
        lastEventId = id ?? lastEventId
        tries.progress()
        note(store, event)
        if (event.type === 'error') told.failed = true
        if (event.type === 'finish') return told
      }
      throw new BrokenStream()
    } catch (error) {
      signal.throwIfAborted()
      store.set({ connection: 'lost' })
      await tries.pause(error, signal, error instanceof BrokenStream ? error.afterMs : 0)
    }
  }
}

function note(store: ChatParts['store'], event: AnswerEvent): void {
  const { live } = store.get()
  if (event.type === 'start') {
    store.set({ busy: 'answering', live: { messageId: event.messageId, text: '', sources: [] } })
  } else if (!live) return
  else if (event.type === 'text-start' && live.text !== '') {
    // Text after an action starts a new paragraph.
    store.set({ live: { ...live, text: `${live.text}\n\n` } })
  } else if (event.type === 'text-delta') {
    store.set({ live: { ...live, text: live.text + event.delta } })
  } else if (event.type === 'data-sources') {
    store.set({ live: { ...live, sources: (event.data as { sources: Source[] }).sources } })
  }
}
