import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Chat } from './chat.ts'
import { Composer } from './composer.tsx'
import { ConversationList } from './conversation-list.tsx'
import { DetailsForm } from './details-form.tsx'
import { Header } from './header.tsx'
import { isComposing } from './is-composing.ts'
import { LoadingLines } from './loading-lines.tsx'
import { Log } from './log.tsx'
import { InlineText } from './markdown.tsx'
import { Notice } from './notice.tsx'
import type { State } from './state.ts'
import { StatusLine } from './status-line.tsx'
import { useStore } from './store.ts'
import type { Voice } from './voice.ts'
import { VoiceBar } from './voice-bar.tsx'
import { word } from './words.ts'

/** The root component of the chat in the iframe. */
export function App({ chat, voice }: { chat: Chat; voice: Voice }) {
  const state = useStore(chat.store)
  const field = useRef<HTMLTextAreaElement>(null)
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    chat.page.onShown(({ takeFocus }) => {
      if (takeFocus) focusField(field.current)
    })
  }, [chat])
  useEffect(() => {
    const leave = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape' || isComposing(event)) return
      if (chat.store.get().view !== 'chat') chat.show('chat')
      else chat.page.close()
    }
    document.addEventListener('keydown', leave)
    return () => document.removeEventListener('keydown', leave)
  }, [chat])
  const { view, conversation, appearance } = state
  // The focused element may have disappeared together with its view.
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs only when another view or conversation is shown
  useEffect(() => {
    if (!document.hasFocus() || document.activeElement !== document.body) return
    if (view === 'chat') focusField(field.current)
    else heading.current?.focus()
  }, [view, conversation === null, appearance === null])
  return (
    <div class="app">
      <Header chat={chat} state={state} heading={heading} />
      <Body chat={chat} voice={voice} state={state} field={field} />
    </div>
  )
}

/** Focuses the message field, except on touch screens, where the on-screen keyboard would cover the messages. */
function focusField(field: HTMLTextAreaElement | null): void {
  if (!matchMedia('(pointer: coarse)').matches) field?.focus()
}

type BodyProps = { chat: Chat; voice: Voice; state: State; field: RefObject<HTMLTextAreaElement | null> }

function Body({ chat, voice, state, field }: BodyProps) {
  const { page, appearance, view, isNoticeDismissed, conversation } = state
  if (page === 'not-found') {
    return (
      <main class="problem-page">
        <h2>{word('notAvailable')}</h2>
        <p>{word('notAvailableWhy')}</p>
      </main>
    )
  }
  if (page === 'unreachable') {
    return (
      <main class="problem-page">
        <h2>{word('notReachable')}</h2>
        <p role="alert">{word(navigator.onLine ? 'tryLater' : 'youAreOffline')}</p>
        <button type="button" class="main-button" onClick={() => void chat.start()}>
          {word('retry')}
        </button>
      </main>
    )
  }
  if (!appearance) {
    return (
      <main>
        <LoadingLines label={word('loading')} />
      </main>
    )
  }
  if (view === 'conversations') {
    return (
      <main class="view">
        <ConversationList chat={chat} shownId={conversation?.id ?? null} />
      </main>
    )
  }
  if (view === 'details' && appearance.leadForm) {
    return (
      <main class="view">
        <DetailsForm chat={chat} fields={appearance.leadForm.fields} />
      </main>
    )
  }
  const { dismissableNotice, footer } = appearance.chat
  return (
    <main class="talk">
      {dismissableNotice && !isNoticeDismissed && (
        <Notice text={dismissableNotice} dismiss={chat.dismissNotice} />
      )}
      <Log chat={chat} state={state} appearance={appearance} />
      <VoiceBar voice={voice} />
      <Composer chat={chat} voice={voice} state={state} appearance={appearance} field={field} />
      {footer && (
        <p class="footer" dir="auto">
          <InlineText text={footer} />
        </p>
      )}
      <StatusLine state={state} />
    </main>
  )
}
