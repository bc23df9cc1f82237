import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import classes from './dialog.module.css'
import { Dialog } from './dialog.tsx'
import { Actions } from './field.tsx'

type ConfirmProps = {
  /** The question, which names what will be lost. */
  title: string
  /** The consequences. */
  children: ReactNode
  /** The label of the button that confirms. */
  action: string
  /** The label of the other button; `Cancel` by default. */
  cancel?: string
  pending?: boolean
  onConfirm: () => void
  onClose: () => void
}

/** Asks before something that cannot be undone. */
export const Confirm = ({
  title,
  children,
  action,
  cancel = 'Cancel',
  pending,
  onConfirm,
  onClose,
}: ConfirmProps) => (
  <Dialog title={title} isOpen onClose={onClose} role="alertdialog">
    <p className={classes.said}>{children}</p>
    <Actions>
      <Button kind="danger" pending={pending} onClick={onConfirm}>
        {action}
      </Button>
      <Button kind="quiet" onClick={onClose}>
        {cancel}
      </Button>
    </Actions>
  </Dialog>
)
