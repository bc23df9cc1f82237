import type { Chat } from './chat.ts'
import { readAloud } from './read-aloud.ts'
import { recogniseSpeech, UNHEARD } from './recognise-speech.ts'
import { createStore, type Store } from './store.ts'
import { word } from './words.ts'

type VoiceState = {
  mode: 'off' | 'listening' | 'thinking' | 'speaking'
  /** The text recognized so far. */
  heard: string
  problem: string | null
}

export type Voice = {
  store: Store<VoiceState>
  start(): void
  end(): void
  /** Stops the answer or the reading aloud, and listens to the visitor again. */
  interrupt(): void
}

/** Voice mode ends after this many silences in a row, because nobody seems to be there. */
const MAX_SILENCES = 3

/**
 * Creates the voice mode, which repeats these steps: it listens to the visitor, sends what they said and reads the
 * answer aloud.
 */
export function createVoice(chat: Chat): Voice {
  const store = createStore<VoiceState>({ mode: 'off', heard: '', problem: null })
  let talk = new AbortController()
  let turn = new AbortController()

  async function talkInTurns(signal: AbortSignal): Promise<void> {
    const words = chat.store.get().appearance?.voice
    if (!words) return
    const { speed } = words
    const language = words.language ?? chat.store.get().language
    const say = async (text: string): Promise<void> => {
      turn = new AbortController()
      signal.addEventListener('abort', () => turn.abort(), { once: true })
      store.set({ mode: 'speaking', heard: '' })
      await readAloud(text, { language, speed }, turn.signal)
    }
    if (words.initialMessage) await say(words.initialMessage)
    let silences = 0
    while (!signal.aborted && silences < MAX_SILENCES) {
      store.set({ mode: 'listening', heard: '' })
      const { text, problem } = await recogniseSpeech(language, signal, (heard) => store.set({ heard }))
      if (signal.aborted) return
      if (problem === 'refused') return fail(word(UNHEARD.refused))
      if (problem) return fail(words.errorMessage || word(UNHEARD.failed))
      silences = text === '' ? silences + 1 : 0
      if (text === '') continue
      store.set({ mode: 'thinking', heard: text })
      const known = new Set(chat.store.get().messages.map(({ id }) => id))
      await answered(text)
      if (signal.aborted) return
      const { messages, problem: unsaid } = chat.store.get()
      const answer = messages.filter(({ id, role }) => role === 'assistant' && !known.has(id))
      for (const { text: said } of answer) await say(said)
      if (unsaid) await say(words.errorMessage || unsaid.sentence)
    }
    if (!signal.aborted) store.set({ mode: 'off' })
  }

  /**
   * Sends the text and resolves when the chat is no longer busy. It does not wait for the team, who may take longer
   * than a visitor listens.
   */
  const answered = (text: string): Promise<void> =>
    new Promise((resolve) => {
      let hasBegun = false
      const stop = chat.store.subscribe(() => {
        hasBegun ||= chat.store.get().busy !== null
        if (!hasBegun || chat.store.get().busy !== null) return
        stop()
        resolve()
      })
      void chat.send(text, { isSpoken: true }).then(() => {
        stop()
        resolve()
      })
    })

  function fail(problem: string): void {
    store.set({ mode: 'off', problem })
  }

  return {
    store,
    start() {
      talk = new AbortController()
      store.set({ mode: 'listening', heard: '', problem: null })
      void talkInTurns(talk.signal)
    },
    end() {
      talk.abort()
      store.set({ mode: 'off', heard: '', problem: null })
    },
    interrupt() {
      if (store.get().mode === 'thinking') void chat.stop()
      turn.abort()
    },
  }
}
