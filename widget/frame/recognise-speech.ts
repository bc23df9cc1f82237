/** The part of the SpeechRecognition API that browsers have in common. */
type Recognition = {
  lang: string
  continuous: boolean
  interimResults: boolean
  onresult: ((event: { results: ArrayLike<{ isFinal: boolean; 0: { transcript: string } }> }) => void) | null
  onerror: ((event: { error: string }) => void) | null
  onend: (() => void) | null
  start(): void
  abort(): void
}

declare global {
  interface Window {
    SpeechRecognition?: new () => Recognition
    webkitSpeechRecognition?: new () => Recognition
  }
}

function recognitionOf(): (new () => Recognition) | undefined {
  return window.SpeechRecognition ?? window.webkitSpeechRecognition
}

export const canRecogniseSpeech = (): boolean => recognitionOf() !== undefined

/** The texts that tell the visitor why nothing was heard. */
export const UNHEARD = { refused: 'micRefused', failed: 'notHeard' } as const

type Heard = { text: string; problem: keyof typeof UNHEARD | null }

/** Listens to one utterance, until the speaker stops or `signal` aborts. Never throws. */
export function recogniseSpeech(
  language: string | null,
  signal: AbortSignal,
  onInterim: (text: string) => void,
): Promise<Heard> {
  return new Promise((resolve) => {
    const Recognition = recognitionOf()
    if (!Recognition || signal.aborted) return resolve({ text: '', problem: Recognition ? null : 'failed' })
    const recognition = new Recognition()
    const heard: Heard = { text: '', problem: null }
    const stop = (): void => recognition.abort()
    recognition.lang = language ?? navigator.language
    recognition.continuous = false
    recognition.interimResults = true
    recognition.onresult = ({ results }) => {
      heard.text = Array.from(results, (result) => result[0].transcript)
        .join(' ')
        .trim()
      onInterim(heard.text)
    }
    recognition.onerror = ({ error }) => {
      if (error === 'not-allowed' || error === 'service-not-allowed') heard.problem = 'refused'
      else if (error !== 'no-speech' && error !== 'aborted') heard.problem = 'failed'
    }
    recognition.onend = () => {
      signal.removeEventListener('abort', stop)
      resolve(heard)
    }
    signal.addEventListener('abort', stop, { once: true })
    try {
      recognition.start()
    } catch {
      resolve({ text: '', problem: 'failed' })
    }
  })
}
