import { IconButton } from './icon-button.tsx'
import { word } from './words.ts'

export function Notice({ text, dismiss }: { text: string; dismiss: () => void }) {
  return (
    <div class="notice">
      <p dir="auto">{text}</p>
      <IconButton class="small" icon="close" label={word('dismiss')} onClick={dismiss} />
    </div>
  )
}
