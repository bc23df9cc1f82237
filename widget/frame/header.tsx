import type { RefObject } from 'preact'
import { BASE } from './base.ts'
import type { Chat } from './chat.ts'
import { IconButton } from './icon-button.tsx'
import type { State } from './state.ts'
import { sentence, word } from './words.ts'

type Props = { chat: Chat; state: State; heading: RefObject<HTMLHeadingElement | null> }

/** The header: shows whom the visitor is talking to, and gives access to everything other than the conversation. */
export function Header({ chat, state, heading }: Props) {
  const { appearance, view, conversation, outgoing, isKnown } = state
  const hasBegun = conversation !== null || outgoing !== null
  return (
    <header class="header">
      {view !== 'chat' && <IconButton icon="back" label={word('back')} onClick={() => chat.show('chat')} />}
      {view === 'chat' && appearance && <Face appearance={appearance} />}
      <div class="header-names">
        <h1 ref={heading} tabIndex={-1}>
          <bdi>{title(view) ?? appearance?.name ?? word('chat')}</bdi>
        </h1>
        {view === 'chat' && appearance && <p class="header-status">{statusOf(state)}</p>}
      </div>
      {view === 'chat' && appearance && (
        <>
          {appearance.mayEscalate && !conversation?.help && (
            <IconButton icon="person" label={sentence('person')} onClick={() => void chat.askForPerson()} />
          )}
          {appearance.leadForm && !appearance.mayEscalate && (
            <IconButton icon="mail" label={word('details')} onClick={() => chat.show('details')} />
          )}
          {isKnown && (
            <IconButton icon="history" label={word('history')} onClick={() => chat.show('conversations')} />
          )}
          {hasBegun && <IconButton icon="plus" label={word('new')} onClick={chat.startNew} />}
        </>
      )}
      {chat.page.isEmbedded && <IconButton icon="close" label={word('close')} onClick={chat.page.close} />}
    </header>
  )
}

function title(view: State['view']): string | undefined {
  if (view === 'chat') return undefined
  return word(view === 'details' ? 'details' : 'history')
}

export function Face({ appearance }: { appearance: NonNullable<State['appearance']> }) {
  const picture = appearance.pictures.profile ?? appearance.pictures.icon
  return picture ? (
    <img class="face" src={BASE + picture} alt="" />
  ) : (
    <span class="face" aria-hidden="true">
      {[...appearance.name][0]?.toUpperCase()}
    </span>
  )
}

function statusOf({ conversation, messages }: State): string {
  const status = conversation?.status
  const help = conversation?.help
  // Another member than the one who has taken over may reply.
  if (help?.name) return word('isAnswering', lastPerson(messages) ?? help.name)
  if (status === 'paused') return word('teamReplies')
  return help ? word('teamKnows') : word('assistant')
}

/** Returns the person who answered last, or null if the agent did. */
export const lastPerson = (messages: State['messages']): string | null =>
  messages.findLast(({ role }) => role === 'assistant')?.author ?? null
