import type { ButtonHTMLAttributes } from 'preact'
import { Icon } from './icon.tsx'

type Props = ButtonHTMLAttributes & {
  icon: Parameters<typeof Icon>[0]['name']
  label: string
}

/** A button that shows only an icon. Its label is read by screen readers and shown as a tooltip. */
export function IconButton({ icon, label, class: name = '', ...rest }: Props) {
  return (
    <button type="button" {...rest} class={`icon-button ${name}`} aria-label={label} title={label}>
      <Icon name={icon} />
    </button>
  )
}
