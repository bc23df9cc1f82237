import type { LucideIcon } from 'lucide-react'
import { Check } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button, Menu as List, MenuItem, MenuTrigger, Popover } from 'react-aria-components'
import { buttonClass } from './button.tsx'
import classes from './menu.module.css'

type Choice = {
  id: string
  label: string
  hint?: string
  icon?: LucideIcon
  danger?: boolean
  chosen?: boolean
  onChoose: () => void
}

type MenuProps = {
  label: string
  choices: Choice[]
  /** The content of the button; defaults to the label. */
  children?: ReactNode
  className?: string
  /** The content of the button is its accessible name. */
  isNamed?: boolean
}

export function Menu({ label, choices, children, className, isNamed }: MenuProps) {
  return (
    <MenuTrigger>
      <Button
        aria-label={isNamed ? undefined : label}
        className={className ?? buttonClass('secondary', true)}
      >
        {children ?? label}
      </Button>
      <Popover className={classes.popover} placement="bottom start">
        <List className={classes.list} aria-label={label}>
          {choices.map(({ id: choice, label: text, hint, icon: Icon, danger, chosen, onChoose }) => (
            <MenuItem
              key={choice}
              id={choice}
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
        </List>
      </Popover>
    </MenuTrigger>
  )
}
