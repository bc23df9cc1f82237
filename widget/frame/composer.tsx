import type { RefObject } from 'preact'
import { useEffect, useId, useLayoutEffect, useState } from 'preact/hooks'
import { type Chat, hasSomethingToSend } from './chat.ts'
import { IconButton } from './icon-button.tsx'
import { isComposing } from './is-composing.ts'
import { AttachButton, PickedFiles, useDroppedFiles } from './picked-files.tsx'
import { tooLong } from './problem-of.ts'
import { canRecogniseSpeech, recogniseSpeech, UNHEARD } from './recognise-speech.ts'
import type { State } from './state.ts'
import type { Appearance } from './types.ts'
import type { Voice } from './voice.ts'
import { shownLanguage, word } from './words.ts'

/** From this part of the limit on, the length of a message is shown. */
const NEAR_LIMIT = 0.9

type Props = {
  chat: Chat
  voice: Voice
  state: State
  appearance: Appearance
  field: RefObject<HTMLTextAreaElement | null>
}

/**
 * The message field. Enter sends and Shift+Enter starts a new line. Text typed during an answer stays until it can be
 * sent.
 */
export function Composer({ chat, voice, state, appearance, field }: Props) {
  const [dictation, setDictation] = useState<AbortController | null>(null)
  const [unheardWhy, setUnheardWhy] = useState<string | null>(null)
  const tooLongId = useId()
  const { busy, isStopping, outgoing, draft: text, language } = state
  const setText = (draft: string): void => chat.store.set({ draft })
  const longest = appearance.longestMessage
  const isTooLong = text.trim().length > longest
  const canSend = busy === null && outgoing === null && !isTooLong && hasSomethingToSend(state, text)
  const isDropping = useDroppedFiles(chat, appearance.uploads !== null)

  useLayoutEffect(() => fit(field.current, text))
  useEffect(() => () => dictation?.abort(), [dictation])

  const send = (event: Event): void => {
    event.preventDefault()
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
    const { problem } = await recogniseSpeech(spoken, controller.signal, (heard) => setText(before + heard))
    setDictation(null)
    if (problem) setUnheardWhy(word(UNHEARD[problem]))
    field.current?.focus()
  }

  return (
    <>
      {unheardWhy && <Problem sentence={unheardWhy} />}
      {isTooLong && <Problem id={tooLongId} sentence={tooLong(appearance)} />}
      <PickedFiles chat={chat} state={state} field={field} />
      <form class={`composer ${isDropping ? 'dropping' : ''}`} onSubmit={send}>
        <textarea
          ref={field}
          rows={1}
          value={text}
          dir="auto"
          aria-label={word('message')}
          aria-invalid={isTooLong}
          aria-describedby={isTooLong ? tooLongId : undefined}
          placeholder={
            isDropping ? word('dropFiles') : appearance.chat.messagePlaceholder || word('placeholder')
          }
          onInput={({ currentTarget }) => setText(currentTarget.value)}
          onPaste={(event) => {
            const pasted = [...(event.clipboardData?.files ?? [])]
            if (!appearance.uploads || pasted.length === 0) return
            event.preventDefault()
            chat.files.add(pasted)
          }}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.shiftKey || isComposing(event)) return
            send(event)
          }}
        />
        {appearance.uploads && <AttachButton chat={chat} field={field} />}
        {appearance.chat.showDictation && canRecogniseSpeech() && (
          <IconButton
            icon="mic"
            class={dictation ? 'is-on' : ''}
            label={word(dictation ? 'stopDictating' : 'dictate')}
            aria-pressed={dictation !== null}
            onClick={() => void dictate()}
          />
        )}
        {appearance.voice &&
          canRecogniseSpeech() &&
          text === '' &&
          state.files.length === 0 &&
          busy === null && <IconButton icon="voice" label={word('talk')} onClick={voice.start} />}
        {busy === 'answering' ? (
          <IconButton
            class="send stops"
            icon="stop"
            label={word('stop')}
            disabled={isStopping}
            onClick={() => void chat.stop()}
          />
        ) : (
          <IconButton class="send" icon="send" type="submit" label={word('send')} disabled={!canSend} />
        )}
      </form>
      {text.length > longest * NEAR_LIMIT && <Length text={text} longest={longest} />}
    </>
  )
}

const Problem = ({ id, sentence }: { id?: string; sentence: string }) => (
  <p class="composer-problem" role="alert" id={id}>
    {sentence}
  </p>
)

function Length({ text, longest }: { text: string; longest: number }) {
  const { length } = text.trim()
  return (
    <p class={`length ${length > longest ? 'is-over' : ''}`} aria-hidden="true">
      <bdi>
        {length.toLocaleString(shownLanguage())} / {longest.toLocaleString(shownLanguage())}
      </bdi>
    </p>
  )
}

/** Makes the field as high as its text, up to a maximum set by the style sheet. */
function fit(field: HTMLTextAreaElement | null, text: string): void {
  if (!field) return
  field.style.height = ''
  if (text !== '') field.style.height = `${field.scrollHeight}px`
}
