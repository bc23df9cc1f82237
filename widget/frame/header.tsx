import type { RefObject } from 'preact'
import type { Chat } from './chat.ts'
import { IconButton } from './icon-button.tsx'
import type { State } from './state.ts'

type Props = { chat: Chat; state: State; heading: RefObject<HTMLHeadingElement | null> }

/** Who one talks to, and the way to everything that is not the talk itself. */
export function Header({ chat, state, heading }: Props) {
  const { appearance, view, conversation, outgoing, isKnown } = state
  const hasBegun = conversation !== null || outgoing !== null
  return (
    <header class="header">
      {view !== 'chat' && (
        <IconButton icon="back" label="Back to the chat" onClick={() => chat.show('chat')} />
      )}
      {view === 'chat' && appearance && <Face appearance={appearance} />}
      <div class="header-names">
        <h1 ref={heading} tabIndex={-1} dir="auto">
          {TITLES[view] ?? appearance?.name ?? 'Chat'}
        </h1>
        {view === 'chat' && appearance && <p class="header-status">{statusOf(state)}</p>}
      </div>
      {view === 'chat' && appearance && (
        <>
          {appearance.leadForm && (
            <IconButton icon="mail" label="Leave your details" onClick={() => chat.show('details')} />
          )}
          {isKnown && (
            <IconButton
              icon="history"
              label="Earlier conversations"
              onClick={() => chat.show('conversations')}
            />
          )}
          {hasBegun && <IconButton icon="plus" label="New conversation" onClick={chat.startNew} />}
        </>
      )}
      {chat.page.isEmbedded && <IconButton icon="close" label="Close chat" onClick={chat.page.close} />}
    </header>
  )
}

const TITLES: Partial<Record<State['view'], string>> = {
  conversations: 'Earlier conversations',
  details: 'Leave your details',
}

function Face({ appearance }: { appearance: NonNullable<State['appearance']> }) {
  const picture = appearance.pictures.profile ?? appearance.pictures.icon
  return picture ? (
    <img class="face" src={picture} alt="" />
  ) : (
    <span class="face" aria-hidden="true">
      {[...appearance.name][0]?.toUpperCase()}
    </span>
  )
}

function statusOf({ conversation, messages }: State): string {
  const status = conversation?.status
  const person = messages.findLast(({ author }) => author !== null)?.author
  if (status === 'taken_over') return person ? `${person} is answering` : 'A person is answering'
  if (status === 'paused') return 'Our team will reply here'
  return 'AI assistant'
}
