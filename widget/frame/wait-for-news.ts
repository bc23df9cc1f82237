import { parseEvents } from '../../client/parse-events.ts'
import { createTries, usualPatience } from '../../client/patience.ts'
import type { ChatParts } from './chat-parts.ts'
import type { Conversation } from './types.ts'
import { waitSeen } from './wait-seen.ts'

/** A conversation is followed while the panel is open and for this long afterwards. */
const FOLLOWED_MS = 60 * 60_000
/** The polling interval without a connection or while the chat is not visible. */
const WATCH_MS = 10_000
const HIDDEN_WATCH_MS = 30_000

/**
 * Waits until there may be something new in a conversation. Returns false when there is no need to follow it: it has
 * ended, or the chat has not been open for an hour. A hidden tab closes its connection, because browsers allow only a
 * few, and polls while a person is expected to reply. Throws when `signal` aborts.
 */
export async function waitForNews(
  chat: ChatParts,
  shown: Conversation,
  signal: AbortSignal,
): Promise<boolean> {
  if (shown.status === 'ended') return false
  const tries = createTries(usualPatience, FOLLOWED_MS)
  for (;;) {
    if (Date.now() - chat.page.lastShown() > FOLLOWED_MS) return false
    if (document.visibilityState === 'hidden') {
      // chat.ts refreshes the chat when it becomes visible again.
      if (!shown.help) return false
      await waitSeen(false, WATCH_MS, HIDDEN_WATCH_MS, signal)
      return true
    }
    const connection = new AbortController()
    const close = (): void =>
      connection.abort(new Error('Nobody sees the chat, or something else has begun.'))
    const onHidden = (): void => {
      if (document.visibilityState === 'hidden') close()
    }
    signal.addEventListener('abort', close, { once: true })
    document.addEventListener('visibilitychange', onHidden)
    try {
      const body = await chat.api.events(shown.id, connection.signal)
      if (!body) return true
      for await (const { data } of parseEvents(body, { ...usualPatience, signal: connection.signal })) {
        chat.store.set({ connection: 'fine' })
        const { version }: { version: string } = JSON.parse(data)
        if (version !== shown.version) return true
        if (Date.now() - chat.page.lastShown() > FOLLOWED_MS) return false
        tries.progress()
      }
    } catch (error) {
      signal.throwIfAborted()
      if (!connection.signal.aborted) await tries.pause(error, signal)
    } finally {
      signal.removeEventListener('abort', close)
      document.removeEventListener('visibilitychange', onHidden)
      close()
    }
    if (document.visibilityState === 'visible') await waitSeen(true, WATCH_MS / 5, HIDDEN_WATCH_MS, signal)
  }
}
