import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import type { Chat } from './chat.ts'
import { canHear, hear, unheard } from './hear.ts'
import { IconButton } from './icon-button.tsx'
import { isComposing } from './is-composing.ts'
import type { State } from './state.ts'
import type { Appearance } from './types.ts'
import type { Voice } from './voice.ts'

const LONGEST = 8_000

type Props = {
  chat: Chat
  voice: Voice
  state: State
  appearance: Appearance
  field: RefObject<HTMLTextAreaElement | null>
}

/** Enter sends, Shift+Enter begins a new line. What is typed while an answer comes in stays until it can be sent. */
export function Composer({ chat, voice, state, appearance, field }: Props) {
  const [dictation, setDictation] = useState<AbortController | null>(null)
  const [unheardWhy, setUnheardWhy] = useState<string | null>(null)
  const { busy, isStopping, outgoing, draft: text, language } = state
  const setText = (draft: string): void => chat.store.set({ draft })
  const canSend = busy === null && outgoing === null && text.trim() !== ''

  useLayoutEffect(() => fit(field.current, text))
  useEffect(() => () => dictation?.abort(), [dictation])

  const send = (): void => {
    if (!canSend) return
    dictation?.abort()
    setUnheardWhy(null)
    void chat.send(text)
    setText('')
  }
  const dictate = async (): Promise<void> => {
    if (dictation) return dictation.abort()
    setUnheardWhy(null)
    const controller = new AbortController()
    setDictation(controller)
    const before = text === '' ? '' : `${text.trimEnd()} `
    const spoken = appearance.voice?.language ?? language
    const { problem } = await hear(spoken, controller.signal, (heard) => setText(before + heard))
    setDictation(null)
    if (problem) setUnheardWhy(unheard[problem])
    field.current?.focus()
  }

  return (
    <>
      {unheardWhy && (
        <p class="voice-problem" role="alert">
          {unheardWhy}
        </p>
      )}
      <form
        class="composer"
        onSubmit={(event) => {
          event.preventDefault()
          send()
        }}
      >
        <textarea
          ref={field}
          rows={1}
          value={text}
          maxLength={LONGEST}
          dir="auto"
          aria-label="Message"
          placeholder={appearance.chat.messagePlaceholder || 'Write a message …'}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.shiftKey || isComposing(event)) return
            event.preventDefault()
            send()
          }}
        />
        {appearance.chat.showDictation && canHear() && (
          <IconButton
            icon="mic"
            class={dictation ? 'is-on' : ''}
            label={dictation ? 'Stop dictating' : 'Dictate'}
            aria-pressed={dictation !== null}
            onClick={() => void dictate()}
          />
        )}
        {appearance.voice && canHear() && text === '' && busy === null && (
          <IconButton icon="voice" label="Talk instead of typing" onClick={voice.start} />
        )}
        {busy === 'answering' ? (
          <IconButton
            class="send"
            icon="stop"
            label="Stop answering"
            disabled={isStopping}
            onClick={() => void chat.stop()}
          />
        ) : (
          <IconButton class="send" icon="send" type="submit" label="Send" disabled={!canSend} />
        )}
      </form>
    </>
  )
}

/** As high as its text, up to a limit of the style. */
function fit(field: HTMLTextAreaElement | null, text: string): void {
  if (!field) return
  field.style.height = ''
  if (text !== '') field.style.height = `${field.scrollHeight}px`
}
