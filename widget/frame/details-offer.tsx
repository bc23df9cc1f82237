import type { Chat } from './chat.ts'
import type { State } from './state.ts'

/** After an answer that stands on no source: the team may know more. */
export function DetailsOffer({ chat, state }: { chat: Chat; state: State }) {
  const { appearance, messages, busy, outgoing, problem, hasLeftDetails, conversation } = state
  const newest = messages.at(-1)
  const isUnsure =
    newest?.role === 'assistant' &&
    newest.author === null &&
    newest.sources.length === 0 &&
    newest.pendingCalls.length === 0
  const isFree = !busy && !outgoing && !problem && conversation?.status === 'ongoing'
  if (!appearance?.leadForm || hasLeftDetails || !isUnsure || !isFree) return null
  return (
    <div class="offer">
      <p>Not what you were looking for? Our team can get back to you.</p>
      <button type="button" class="text-button" onClick={() => chat.show('details')}>
        Leave your details
      </button>
    </div>
  )
}
