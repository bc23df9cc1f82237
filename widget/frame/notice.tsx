import { IconButton } from './icon-button.tsx'

export function Notice({ text, dismiss }: { text: string; dismiss: () => void }) {
  return (
    <div class="notice">
      <p dir="auto">{text}</p>
      <IconButton class="small" icon="close" label="Dismiss the notice" onClick={dismiss} />
    </div>
  )
}
