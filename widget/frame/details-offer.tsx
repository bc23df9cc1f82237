import type { Chat } from './chat.ts'
import { Icon } from './icon.tsx'
import type { State } from './state.ts'
import { sentence, word } from './words.ts'

/**
 * Shown after an answer without sources, where a person may know more. Offers either a person or the contact form,
 * not both. If the answer itself offers a person, the button accepts that offer.
 */
export function DetailsOffer({ chat, state }: { chat: Chat; state: State }) {
  const { appearance, messages, busy, outgoing, problem, hasLeftDetails, conversation } = state
  const newest = messages.at(-1)
  const isUnsure =
    newest?.role === 'assistant' &&
    newest.author === null &&
    newest.sources.length === 0 &&
    newest.pendingCalls.length === 0
  const isFree = !busy && !outgoing && !problem && conversation?.status === 'ongoing' && !conversation.help
  if (!appearance || !isUnsure || !isFree) return null
  const { mayEscalate, leadForm } = appearance
  if (newest.offer && mayEscalate)
    return (
      <button
        type="button"
        class="suggestion accept"
        onClick={({ currentTarget }) => {
          // The button is about to disappear, and the focus must not disappear with it.
          currentTarget.closest<HTMLElement>('.log')?.focus()
          void chat.acceptOffer(newest)
        }}
      >
        <Icon name="person" />
        {sentence('person')}
      </button>
    )
  if (!mayEscalate && (!leadForm || hasLeftDetails)) return null
  return (
    <div class="offer">
      <p>{word('unsure')}</p>
      <button
        type="button"
        class="text-button"
        onClick={() => (mayEscalate ? void chat.askForPerson() : chat.show('details'))}
      >
        {mayEscalate ? sentence('person') : word('details')}
      </button>
    </div>
  )
}
