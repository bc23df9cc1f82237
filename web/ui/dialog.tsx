import { lazy, Suspense } from 'react'
import type { DialogPaneProps } from './dialog-pane.tsx'

/** The code of dialogs is large, so it is loaded when the first one opens. */
const DialogPane = lazy(() => import('./dialog-pane.tsx').then(({ DialogPane: one }) => ({ default: one })))

export const Dialog = ({ isOpen, ...rest }: DialogPaneProps & { isOpen: boolean }) =>
  isOpen && (
    <Suspense>
      <DialogPane {...rest} />
    </Suspense>
  )
