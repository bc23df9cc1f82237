import type { RefObject } from 'react'
import { Menu, MenuItem, Popover } from 'react-aria-components'
import type { LucideIcon } from './icon.tsx'
import { Check } from './icons.ts'
import classes from './menu.module.css'

export type Choice = {
  id: string
  label: string
  hint?: string
  icon?: LucideIcon
  danger?: boolean
  chosen?: boolean
  onChoose: () => void
}

type MenuListProps = {
  button: RefObject<HTMLButtonElement | null>
  label: string
  choices: Choice[]
  onClose: () => void
}

/** The open list of a menu, below its button. */
export function MenuList({ button, label, choices, onClose }: MenuListProps) {
  return (
    <Popover
      triggerRef={button}
      trigger="MenuTrigger"
      isOpen
      onOpenChange={(open) => !open && onClose()}
      aria-label={label}
      className={classes.popover ?? ''}
      placement="bottom start"
    >
      <Menu className={classes.list ?? ''} aria-label={label} autoFocus="first" onClose={onClose}>
        {choices.map(({ id, label: text, hint, icon: Icon, danger, chosen, onChoose }) => (
          <MenuItem
            key={id}
            id={id}
            textValue={text}
            onAction={onChoose}
            className={`${classes.item} ${danger ? classes.danger : ''}`}
          >
            {Icon && <Icon size={16} aria-hidden />}
            <span className={classes.text}>
              {text}
              {hint && <small>{hint}</small>}
            </span>
            {chosen && <Check size={16} aria-label="Chosen" />}
          </MenuItem>
        ))}
      </Menu>
    </Popover>
  )
}
