import { type ReactNode, useLayoutEffect, useRef, useState } from 'react'
import { isUnsaved, useUnsavedForms } from '../ui/unsaved.ts'
import { isEqual } from './conflicts.ts'

type LatestProps<T> = {
  of: T
  /** Returns what the form shows. When it changes, the form is rendered again. */
  shows: (object: T) => unknown
  children: (object: T) => ReactNode
}

/**
 * Shows a form for the latest version of an object. While the form has unsaved changes, it keeps the version that they
 * were made to.
 */
export function Latest<T>({ of, shows, children }: LatestProps<T>) {
  const place = useRef<HTMLDivElement>(null)
  const [shown, setShown] = useState({ object: of, round: 0 })
  const focused = useRef(-1)
  useUnsavedForms()
  const next = shown.object
  useLayoutEffect(() => {
    const element = place.current
    if (of === next || !element || isUnsaved(element)) return
    const isSame = isEqual(shows(of), shows(next))
    focused.current = isSame ? -1 : controlsOf(element).findIndex((one) => one === document.activeElement)
    setShown(({ round }) => ({ object: of, round: isSame ? round : round + 1 }))
  })
  // The control that had the focus is another element now.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a new form has lost the focus
  useLayoutEffect(() => {
    if (place.current && focused.current >= 0) controlsOf(place.current)[focused.current]?.focus()
    focused.current = -1
  }, [shown.round])
  return (
    <div ref={place} key={shown.round} style={{ display: 'contents' }}>
      {children(shown.object)}
    </div>
  )
}

const controlsOf = (element: HTMLElement): HTMLElement[] => [
  ...element.querySelectorAll<HTMLElement>('input, textarea, select, button'),
]
