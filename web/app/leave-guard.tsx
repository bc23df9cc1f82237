import { useBlocker } from '@tanstack/react-router'
import { Confirm } from '../ui/confirm.tsx'
import { isAnyUnsaved, isUnsaved, useUnsavedForms } from '../ui/unsaved.ts'

/** Asks before the user leaves a page with unsaved changes, or switches to another of its tabs. */
export function LeaveGuard() {
  useUnsavedForms()
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => {
      const [from, to] = [current, next]
      const isOther =
        from.pathname !== to.pathname ||
        from.search.tab !== to.search.tab ||
        from.search.mode !== to.search.mode
      return isOther && isUnsaved(document.body)
    },
    enableBeforeUnload: isAnyUnsaved,
    withResolver: true,
    // The router waits for a blocker before each navigation, and two in a row would not add up.
    disabled: !isAnyUnsaved(),
  })
  if (status !== 'blocked') return null
  return (
    <Confirm title="Leave without saving?" action="Leave" cancel="Stay" onConfirm={proceed} onClose={reset}>
      Your unsaved changes on this page will be lost.
    </Confirm>
  )
}
