import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Chat } from './chat.ts'
import { DetailsOffer } from './details-offer.tsx'
import { IconButton } from './icon-button.tsx'
import { LoadingLines } from './loading-lines.tsx'
import { Bubble, MessageView, Thinking } from './message.tsx'
import { newMessage } from './new-message.ts'
import { ProblemNote } from './problem-note.tsx'
import type { State } from './state.ts'
import { lostWords } from './status-line.tsx'
import { Suggestions } from './suggestions.tsx'
import type { Appearance, Message } from './types.ts'

const NEAR = 60

/** The talk. It stays at its end while the visitor is there, and where it is when they have scrolled up. */
export function Log({ chat, state, appearance }: { chat: Chat; state: State; appearance: Appearance }) {
  const { messages, outgoing, live, busy, isLoading, problem, connection, conversation, language } = state
  const box = useRef<HTMLDivElement>(null)
  const [isAtEnd, setAtEnd] = useState(true)
  useLayoutEffect(() => {
    if (isAtEnd) toEnd(box.current)
  })
  useLayoutEffect(() => {
    if (!outgoing) return
    setAtEnd(true)
    toEnd(box.current)
  }, [outgoing])

  // A conversation that is opened is not news: only what comes when it stands there is read out.
  const [isNews, setNews] = useState(false)
  useEffect(() => setNews(!isLoading), [isLoading])

  const shown = withLive(messages, live)
  const isWaiting = busy !== null && (live === null || live.text === '')
  const isEmpty = shown.length === 0 && !outgoing && !isLoading
  return (
    <div class="log-frame">
      <div
        class="log"
        ref={box}
        role="log"
        aria-live={isNews && !isLoading ? 'polite' : 'off'}
        aria-busy={busy === 'answering'}
        aria-label="Conversation"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
        tabIndex={0}
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) =>
          setAtEnd(scrollHeight - scrollTop - clientHeight < NEAR)
        }
      >
        {openingOf(appearance, state).map((text) => (
          <Bubble key={text} speaker="assistant" text={text} language={language} />
        ))}
        {isLoading && <LoadingLines />}
        {shown.map((message) => (
          <MessageView
            key={message.id}
            chat={chat}
            chatStyle={appearance.chat}
            linkHosts={appearance.linkHosts}
            message={message}
            language={language}
            isComplete={message.id !== live?.messageId}
          />
        ))}
        {outgoing && (
          <Bubble speaker="user" text={outgoing.text} language={language} isPale={busy === null} />
        )}
        {isWaiting && busy !== 'sending' && <Thinking />}
        {connection === 'lost' && busy && (
          <p class="note" aria-hidden="true">
            {lostWords()}
          </p>
        )}
        {problem && <ProblemNote chat={chat} state={state} problem={problem} />}
        {conversation?.status === 'ended' && !busy && (
          <p class="note">This conversation has ended. Your next message begins a new one.</p>
        )}
        <DetailsOffer chat={chat} state={state} />
        {isEmpty && <Suggestions chat={chat} suggestions={appearance.suggestedMessages} />}
      </div>
      {!isAtEnd && (
        <IconButton
          class="to-end"
          icon="down"
          label="To the newest message"
          onClick={() => toEnd(box.current)}
        />
      )}
    </div>
  )
}

function toEnd(box: HTMLElement | null): void {
  if (box) box.scrollTop = box.scrollHeight
}

/** The answer that comes in, at the end or behind what its message said before an action ran. */
function withLive(messages: Message[], live: State['live']): Message[] {
  if (!live || live.text === '') return messages
  const known = messages.find(({ id }) => id === live.messageId)
  const text = known?.text ? `${known.text}\n\n${live.text}` : live.text
  const sources = live.sources.length > 0 ? live.sources : (known?.sources ?? [])
  const message = { ...(known ?? newMessage('assistant', live.messageId, '')), text, sources }
  return known ? messages.map((one) => (one === known ? message : one)) : [...messages, message]
}

function openingOf({ initialMessages, chat }: Appearance, { isPhone }: State): string[] {
  return isPhone && chat.mobile.initialMessages === false ? [] : initialMessages
}
