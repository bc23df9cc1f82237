import type { State } from './state.ts'
import { word } from './words.ts'

/**
 * Announces the state of the chat to screen readers. It is separate from the log, whose messages are read when they
 * are complete.
 */
export function StatusLine({ state }: { state: State }) {
  return (
    <p class="visually-hidden" role="status">
      {statusOf(state)}
    </p>
  )
}

/** Returns the text that tells visitors that the connection is lost. */
export const lostWords = (): string => (navigator.onLine ? word('lost') : word('offline'))

function statusOf({ busy, isLoading, connection }: State): string {
  if (connection === 'lost' && busy) return lostWords()
  if (isLoading) return word('loading')
  if (busy === 'acting') return word('acting')
  return busy === 'answering' ? word('writing') : ''
}
