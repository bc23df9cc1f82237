import { IconButton } from './icon-button.tsx'
import { useStore } from './store.ts'
import type { Voice } from './voice.ts'
import { word } from './words.ts'

/** The bar above the message field in voice mode. */
export function VoiceBar({ voice }: { voice: Voice }) {
  const { mode, heard, problem } = useStore(voice.store)
  if (mode === 'off') {
    return problem ? (
      <p class="composer-problem" role="alert">
        {problem}
      </p>
    ) : null
  }
  return (
    <div class={`voice-bar ${mode}`}>
      <span class="voice-waves" aria-hidden="true">
        <i />
        <i />
        <i />
        <i />
      </span>
      <p role="status" dir="auto">
        {mode === 'listening' && heard ? heard : word(mode)}
      </p>
      {(mode === 'speaking' || mode === 'thinking') && (
        <IconButton icon="stop" label={word('interrupt')} onClick={voice.interrupt} />
      )}
      <IconButton icon="close" label={word('stopTalking')} onClick={voice.end} />
    </div>
  )
}
