import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Chat } from './chat.ts'
import { DetailsOffer } from './details-offer.tsx'
import { HelpNote } from './help-note.tsx'
import { IconButton } from './icon-button.tsx'
import { LoadingLines } from './loading-lines.tsx'
import { Bubble, type MessagePosition, MessageView, Thinking } from './message.tsx'
import { newMessage } from './new-message.ts'
import { ProblemNote } from './problem-note.tsx'
import type { State } from './state.ts'
import { lostWords } from './status-line.tsx'
import type { Appearance, Message } from './types.ts'
import { Welcome } from './welcome.tsx'
import { sentence, word } from './words.ts'

const NEAR = 60

/** The messages of the conversation. The log keeps scrolling to the end, unless the visitor has scrolled up. */
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

  // Screen readers announce only messages that arrive after the conversation has loaded.
  const [isNews, setNews] = useState(false)
  useEffect(() => setNews(!isLoading), [isLoading])

  const shown = withLive(messages, live)
  const isLong = useIsQuiet(busy === null || busy === 'sending' ? null : `${busy} ${live?.text ?? ''}`)
  const isWaiting = busy !== null && (live === null || live.text === '' || isLong)
  const isEmpty = shown.length === 0 && !outgoing && !isLoading
  return (
    <div class="log-frame">
      <div
        class="log"
        ref={box}
        role="log"
        aria-live={isNews && !isLoading ? 'polite' : 'off'}
        aria-busy={busy === 'answering'}
        aria-label={word('conversation')}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
        tabIndex={0}
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) =>
          setAtEnd(scrollHeight - scrollTop - clientHeight < NEAR)
        }
      >
        <Opening state={state} appearance={appearance} />
        {isLoading && <LoadingLines />}
        {shown.map((message, index) => (
          <MessageView
            key={message.id}
            chat={chat}
            appearance={appearance}
            place={placeOf(shown, index)}
            message={message}
            language={language}
            isComplete={message.id !== live?.messageId}
          />
        ))}
        {outgoing && (
          <Bubble
            speaker="user"
            text={outgoing.text}
            files={outgoing.files}
            language={language}
            isPale={busy === null}
          />
        )}
        {isWaiting && busy !== 'sending' && <Thinking appearance={appearance} isLong={isLong} />}
        {connection === 'lost' && busy && (
          <p class="note" aria-hidden="true">
            {lostWords()}
          </p>
        )}
        {problem && <ProblemNote chat={chat} state={state} problem={problem} />}
        {conversation?.status === 'ended' && !busy && <p class="note">{word('ended')}</p>}
        <DetailsOffer chat={chat} state={state} />
        {!busy && <HelpNote chat={chat} state={state} />}
        {isEmpty && !conversation?.help && <Welcome chat={chat} appearance={appearance} />}
      </div>
      {!isAtEnd && (
        <IconButton class="to-end" icon="down" label={word('newest')} onClick={() => toEnd(box.current)} />
      )}
    </div>
  )
}

function Opening({ state, appearance }: { state: State; appearance: Appearance }) {
  const opening = openingOf(appearance, state)
  return (
    <>
      {appearance.aiNotice && !isWithPeopleOnly(state) && (
        <p class="note" dir="auto">
          {appearance.aiNotice.text ?? sentence('aiNotice')}
        </p>
      )}
      {opening.map((text, index) => (
        <Bubble
          key={text}
          speaker="assistant"
          text={text}
          language={state.language}
          appearance={appearance}
          place={{ isFirst: index === 0, isLast: index === opening.length - 1 }}
        />
      ))}
    </>
  )
}

/** How long nothing may come before visitors are told that the answer is being thought about, in milliseconds. */
const QUIET_MS = 2_500

/** Returns whether `sign` has not changed for a while; never for null. */
function useIsQuiet(sign: string | null): boolean {
  const [quiet, setQuiet] = useState<string | null>(null)
  useEffect(() => {
    setQuiet(null)
    if (sign === null) return
    const timer = setTimeout(() => setQuiet(sign), QUIET_MS)
    return () => clearTimeout(timer)
  }, [sign])
  return sign !== null && quiet === sign
}

function toEnd(box: HTMLElement | null): void {
  if (box) box.scrollTop = box.scrollHeight
}

/** Adds the streaming answer at the end, or appends it to the text that its message had before an action ran. */
function withLive(messages: Message[], live: State['live']): Message[] {
  if (!live || live.text === '') return messages
  const known = messages.find(({ id }) => id === live.messageId)
  const text = known?.text ? `${known.text}\n\n${live.text}` : live.text
  const sources = live.sources.length > 0 ? live.sources : (known?.sources ?? [])
  const message = { ...(known ?? newMessage('assistant', live.messageId, '')), text, sources }
  return known ? messages.map((one) => (one === known ? message : one)) : [...messages, message]
}

/** Whether only people have replied so far, or the first reply will be a person's. */
function isWithPeopleOnly({ messages, live, conversation }: State): boolean {
  const replies = messages.filter(({ role }) => role === 'assistant')
  if (live || replies.some(({ author }) => author === null)) return false
  return replies.length > 0 || Boolean(conversation?.help)
}

const TOGETHER_SECONDS = 5 * 60

/** Groups consecutive messages of one speaker that are less than five minutes apart. */
function placeOf(messages: Message[], index: number): MessagePosition {
  const follows = (one: Message | undefined, next: Message | undefined): boolean =>
    one !== undefined &&
    next !== undefined &&
    one.role === next.role &&
    one.author === next.author &&
    next.createdAt - one.createdAt < TOGETHER_SECONDS
  const message = messages[index]
  return { isFirst: !follows(messages[index - 1], message), isLast: !follows(message, messages[index + 1]) }
}

function openingOf({ initialMessages, chat }: Appearance, { isPhone }: State): string[] {
  const own = chat.mobile.initialMessages
  return isPhone && own?.enabled ? (own.value ?? []) : initialMessages
}
