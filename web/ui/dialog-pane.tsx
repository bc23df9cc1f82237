import { X } from 'lucide-react'
import type { ReactNode } from 'react'
import { Heading, Modal, ModalOverlay, Dialog as Pane } from 'react-aria-components'
import { IconButton } from './button.tsx'
import classes from './dialog.module.css'

export type DialogPaneProps = {
  title: string
  onClose: () => void
  wide?: boolean
  /** Opens the dialog from this side instead of in the middle. */
  drawer?: 'left' | 'right'
  /** An alert dialog asks something before anything else can go on. */
  role?: 'dialog' | 'alertdialog'
  children: ReactNode
}

/** An open dialog. */
export function DialogPane({ title, onClose, wide, drawer, role, children }: DialogPaneProps) {
  const place = drawer
    ? `${classes.drawer} ${classes[drawer]}`
    : `${classes.modal} ${wide ? classes.wide : ''}`
  return (
    <ModalOverlay
      isOpen
      onOpenChange={(open) => !open && onClose()}
      isDismissable
      className={`${classes.overlay} ${drawer ? '' : classes.middle}`}
    >
      <Modal className={place}>
        <Pane className={classes.pane} role={role}>
          <header className={classes.head}>
            <Heading slot="title" level={2}>
              {title}
            </Heading>
            <IconButton icon={X} label="Close" onClick={onClose} />
          </header>
          <div className={classes.body}>{children}</div>
        </Pane>
      </Modal>
    </ModalOverlay>
  )
}
