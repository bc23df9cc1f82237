import { type ReactNode, useRef, useState } from 'react'
import { Heading, Modal, ModalOverlay, Dialog as Pane } from 'react-aria-components'
import { Button, IconButton } from './button.tsx'
import classes from './dialog.module.css'
import { Actions } from './field.tsx'
import { X } from './icons.ts'
import { isUnsaved } from './unsaved.ts'

export type DialogPaneProps = {
  title: string
  onClose: () => void
  wide?: boolean
  /** Opens the dialog from this side instead of in the middle. */
  drawer?: 'left' | 'right'
  /** An alert dialog has to be answered first; `dialog` by default. */
  role?: 'dialog' | 'alertdialog'
  children: ReactNode
}

/** An open dialog. */
export function DialogPane({ title, onClose, wide, drawer, role = 'dialog', children }: DialogPaneProps) {
  const place = drawer
    ? `${classes.drawer} ${classes[drawer]}`
    : `${classes.modal} ${wide ? classes.wide : ''}`
  const body = useRef<HTMLDivElement>(null)
  const [isAsking, setIsAsking] = useState(false)
  /** Closes the dialog, but asks first when it has unsaved changes. */
  const close = (): void => {
    if (body.current && isUnsaved(body.current)) setIsAsking(true)
    else onClose()
  }
  return (
    <ModalOverlay
      isOpen
      onOpenChange={(open) => !open && close()}
      isDismissable
      className={`${classes.overlay} ${drawer ? '' : classes.middle}`}
    >
      <Modal className={place}>
        <Pane className={classes.pane ?? ''} role={role}>
          <header className={classes.head}>
            <Heading slot="title" level={2}>
              {title}
            </Heading>
            <IconButton icon={X} label="Close" onClick={close} />
          </header>
          <div ref={body} className={classes.body}>
            {children}
          </div>
          {isAsking && (
            <DialogPane title="Close without saving?" role="alertdialog" onClose={() => setIsAsking(false)}>
              <p className={classes.said}>Your unsaved changes will be lost.</p>
              <Actions>
                <Button kind="danger" onClick={onClose}>
                  Discard it
                </Button>
                <Button kind="quiet" onClick={() => setIsAsking(false)}>
                  Keep editing
                </Button>
              </Actions>
            </DialogPane>
          )}
        </Pane>
      </Modal>
    </ModalOverlay>
  )
}
