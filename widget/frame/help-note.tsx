import type { Chat } from './chat.ts'
import { lastPerson } from './header.tsx'
import { Icon } from './icon.tsx'
import type { State } from './state.ts'
import { shownLanguage, word } from './words.ts'

/** Tells a visitor who is waiting for a person what happens next. */
export function HelpNote({ chat, state }: { chat: Chat; state: State }) {
  const { conversation, appearance, hasLeftDetails, messages } = state
  const help = conversation?.help
  if (!help) return null
  // Once a person has replied, the header is enough.
  if (help.name) return lastPerson(messages) ? null : <p class="note">{word('joined', help.name)}</p>
  return (
    <div class="help">
      <Icon name="person" />
      <div>
        <p dir="auto">{sentenceOf(help)}</p>
        {!help.isStaffed && appearance?.leadForm && !hasLeftDetails && (
          <button type="button" class="text-button" onClick={() => chat.show('details')}>
            {word('details')}
          </button>
        )}
      </div>
    </div>
  )
}

function sentenceOf({ isStaffed, opensAt }: NonNullable<NonNullable<State['conversation']>['help']>): string {
  if (isStaffed) return word('waiting')
  if (opensAt === null) return word('away')
  const time = new Intl.DateTimeFormat(shownLanguage(), {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    hour: 'numeric',
    minute: '2-digit',
  }).format(new Date(opensAt))
  return word('awayUntil', time)
}
