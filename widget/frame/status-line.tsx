import type { State } from './state.ts'
import { word } from './words.ts'

/** What is going on, for who does not see it. Apart from the talk, whose parts are read out when they are complete. */
export function StatusLine({ state }: { state: State }) {
  return (
    <p class="visually-hidden" role="status">
      {statusOf(state)}
    </p>
  )
}

/** In words for everybody. */
export const lostWords = (): string => (navigator.onLine ? word('lost') : word('offline'))

function statusOf({ busy, isLoading, connection }: State): string {
  if (connection === 'lost' && busy) return lostWords()
  if (isLoading) return word('loading')
  if (busy === 'acting') return word('acting')
  return busy === 'answering' ? word('writing') : ''
}
