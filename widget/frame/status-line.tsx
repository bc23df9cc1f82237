import type { State } from './state.ts'

/** What is going on, for who does not see it. Apart from the talk, whose parts are read out when they are complete. */
export function StatusLine({ state }: { state: State }) {
  return (
    <p class="visually-hidden" role="status">
      {statusOf(state)}
    </p>
  )
}

/** In words for everybody. */
export const lostWords = (): string =>
  navigator.onLine ? 'The connection was lost. Trying again …' : 'You are offline. Waiting …'

function statusOf({ busy, isLoading, connection }: State): string {
  if (connection === 'lost' && busy) return lostWords()
  if (isLoading) return 'Loading the conversation'
  if (busy === 'acting') return 'Working on this page'
  return busy === 'answering' ? 'Writing an answer' : ''
}
