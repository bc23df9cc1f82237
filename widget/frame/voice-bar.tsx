import { IconButton } from './icon-button.tsx'
import { useStore } from './store.ts'
import type { Voice, VoiceState } from './voice.ts'

const WORDS: Record<VoiceState['mode'], string> = {
  off: '',
  listening: 'Listening …',
  thinking: 'One moment …',
  speaking: 'Speaking …',
}

/** Above the field for typing while one talks. */
export function VoiceBar({ voice }: { voice: Voice }) {
  const { mode, heard, problem } = useStore(voice.store)
  if (mode === 'off') {
    return problem ? (
      <p class="voice-problem" role="alert">
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
        {mode === 'listening' && heard ? heard : WORDS[mode]}
      </p>
      {(mode === 'speaking' || mode === 'thinking') && (
        <IconButton icon="stop" label="Interrupt" onClick={voice.interrupt} />
      )}
      <IconButton icon="close" label="Stop talking" onClick={voice.end} />
    </div>
  )
}
