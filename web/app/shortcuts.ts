import { useLayoutEffect, useRef } from 'react'

/** Without `run`, the shortcut is only listed: it works elsewhere on the page. */
type Shortcut = { keys: string; does: string; group: string; run?: (() => void) | undefined }

const shown = new Set<readonly Shortcut[]>()

/** Returns the keyboard shortcuts that are currently registered. */
export const shortcutsNow = (): Shortcut[] => [...shown].flat()

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(input|textarea|select)$/i.test(target.tagName))

/**
 * Registers keyboard shortcuts while the component is mounted. Single keys do nothing while the user is typing or a
 * dialog or menu is open; shortcuts with `mod` always work.
 */
export function useShortcuts(shortcuts: Shortcut[]): void {
  const current = useRef(shortcuts)
  current.current = shortcuts
  // What is shown can be used at once, and an effect after painting would be late for a quick key.
  useLayoutEffect(() => {
    const list = current.current
    shown.add(list)
    const onKey = (event: KeyboardEvent): void => {
      const mod = event.metaKey || event.ctrlKey
      const keys = `${mod ? 'mod+' : ''}${event.key.toLowerCase()}`
      const found = current.current.find((one) => one.keys === keys)
      if (!found?.run || event.altKey || event.defaultPrevented) return
      if (
        !mod &&
        (isTyping(event.target) || document.querySelector('dialog[open],[role=dialog],[role=menu]'))
      )
        return
      event.preventDefault()
      found.run()
    }
    addEventListener('keydown', onKey)
    return () => {
      shown.delete(list)
      removeEventListener('keydown', onKey)
    }
  }, [])
}
