import { type KeyboardEvent, lazy, type ReactNode, Suspense, useRef, useState } from 'react'
import { buttonClass } from './button.tsx'
import type { Choice } from './menu-list.tsx'

/** The code of menus is large, so it is loaded when the pointer or the focus first reaches one. */
const load = () => import('./menu-list.tsx')
const MenuList = lazy(() => load().then(({ MenuList: one }) => ({ default: one })))

type MenuProps = {
  label: string
  choices: Choice[]
  /** The content of the button; defaults to the label. */
  children?: ReactNode
  className?: string | undefined
  /** The content of the button is its accessible name. */
  isNamed?: boolean
}

export function Menu({ label, choices, children, className, isNamed }: MenuProps) {
  const button = useRef<HTMLButtonElement>(null)
  const [isOpen, setIsOpen] = useState(false)
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
    event.preventDefault()
    setIsOpen(true)
  }
  return (
    <>
      <button
        ref={button}
        type="button"
        aria-label={isNamed ? undefined : label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        className={className ?? buttonClass('secondary', true)}
        onPointerEnter={() => void load()}
        onFocus={() => void load()}
        onKeyDown={onKeyDown}
        onClick={() => setIsOpen(true)}
      >
        {children ?? label}
      </button>
      {isOpen && (
        <Suspense>
          <MenuList button={button} label={label} choices={choices} onClose={() => setIsOpen(false)} />
        </Suspense>
      )}
    </>
  )
}
