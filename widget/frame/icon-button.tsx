import type { ButtonHTMLAttributes } from 'preact'
import { Icon } from './icon.tsx'

type Props = ButtonHTMLAttributes & {
  icon: Parameters<typeof Icon>[0]['name']
  label: string
}

/** A button that is a picture; its name is read out and stands in its tooltip. */
export function IconButton({ icon, label, class: name = '', ...rest }: Props) {
  return (
    <button type="button" {...rest} class={`icon-button ${name}`} aria-label={label} title={label}>
      <Icon name={icon} />
    </button>
  )
}
