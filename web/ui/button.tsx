import { type ComponentProps, type ReactNode, useRef } from 'react'
import { changesBegun } from '../app/use-mutation.ts'
import classes from './button.module.css'
import type { LucideIcon } from './icon.tsx'

type Kind = 'primary' | 'secondary' | 'quiet' | 'danger'

export const buttonClass = (kind: Kind = 'secondary', small = false): string =>
  `${classes.button} ${classes[kind]} ${small ? classes.small : ''}`

export type ButtonProps = ComponentProps<'button'> & {
  kind?: Kind
  small?: boolean
  icon?: LucideIcon
  /** While the operation that the button started is running, pressing it again does nothing. */
  pending?: boolean | undefined
  children: ReactNode
}

export function Button({
  kind,
  small,
  icon: Icon,
  pending,
  children,
  className,
  onClick,
  ...rest
}: ButtonProps) {
  const first = useRef<{ label: string | null; changes: number } | null>(null)
  return (
    <button
      type="button"
      {...rest}
      onClick={(event) => {
        const label = event.currentTarget.textContent
        const isSecond = event.detail > 1
        // Two quick clicks are two, unless the first has begun a change, or hit something else: the second click of a
        // double-click may hit a button that has just appeared.
        const isRepeated =
          isSecond && (first.current?.label !== label || first.current.changes !== changesBegun())
        if (!isSecond) first.current = { label, changes: changesBegun() }
        if (pending || isRepeated) event.preventDefault()
        else onClick?.(event)
      }}
      className={`${buttonClass(kind, small)} ${className ?? ''}`}
      aria-busy={pending || undefined}
      // A disabled button would lose the focus, and keyboard users would lose their position.
      aria-disabled={pending || undefined}
    >
      {pending ? <span className={classes.spinner} /> : Icon && <Icon size={16} aria-hidden />}
      {children}
    </button>
  )
}

type IconButtonProps = ComponentProps<'button'> & { icon: LucideIcon; label: string; hint?: string }

export function IconButton({ icon: Icon, label, hint, className, ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      className={`${classes.icon} ${className ?? ''}`}
      aria-label={label}
      title={hint ? `${label} (${hint})` : label}
    >
      <Icon size={18} aria-hidden />
    </button>
  )
}
