import { Button, IconButton } from './button.tsx'
import { CircleAlert, CircleCheck, X } from './icons.ts'
import { createStore } from './store.ts'
import classes from './toast.module.css'

type Toast = {
  id: number
  kind: 'done' | 'problem'
  text: string
  action: { label: string; run: () => void } | undefined
}

const SHOWN_MS = 6_000
const toasts = createStore<Toast[]>([])
let last = 0

function dismissToast(id: number): void {
  toasts.set(toasts.get().filter((toast) => toast.id !== id))
}

/** Shows a toast. One about a problem stays until the user dismisses it. */
export function tell(kind: Toast['kind'], text: string, action?: Toast['action']): void {
  const id = ++last
  toasts.set([...toasts.get().slice(-2), { id, kind, text, action }])
  if (kind === 'done') setTimeout(() => dismissToast(id), SHOWN_MS)
}

/** Performs the action of the newest toast, for users who cannot reach its button in time. */
export function takeOffer(): void {
  const toast = toasts.get().findLast(({ action }) => action)
  if (!toast) return
  toast.action?.run()
  dismissToast(toast.id)
}

export function Toasts() {
  const shown = toasts.use()
  return (
    <section className={classes.toasts} aria-live="polite" aria-label="Notices">
      {shown.map(({ id, kind, text, action }) => (
        <div key={id} className={`${classes.toast} ${classes[kind]}`}>
          {kind === 'done' ? <CircleCheck size={18} aria-hidden /> : <CircleAlert size={18} aria-hidden />}
          <p>{text}</p>
          {action && (
            <Button
              small
              kind="quiet"
              onClick={() => {
                action.run()
                dismissToast(id)
              }}
            >
              {action.label} <kbd>z</kbd>
            </Button>
          )}
          <IconButton icon={X} label="Dismiss" onClick={() => dismissToast(id)} />
        </div>
      ))}
    </section>
  )
}
