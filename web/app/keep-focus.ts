import { focusAround, PLACES } from '../ui/focus-around.ts'

/**
 * Preserves the position of keyboard users: when the focused element is removed, hidden or disabled, the nearest part
 * of the page around it gets the focus.
 */
export function keepFocus(): void {
  let last: HTMLElement | null = null
  let around: HTMLElement[] = []
  let isLooking = false

  document.addEventListener('focusin', ({ target }) => {
    if (!(target instanceof HTMLElement)) return
    last = target
    around = []
    for (let place = target.parentElement?.closest<HTMLElement>(PLACES); place; ) {
      around.push(place)
      place = place.parentElement?.closest<HTMLElement>(PLACES)
    }
  })
  document.addEventListener('focusout', ({ target }) => {
    // Browsers may report this just before they remove the element.
    queueMicrotask(() => {
      if (target === last && last && !isLost(last)) last = null
    })
  })

  const look = (): void => {
    isLooking = false
    if (!last || !isLost(last) || document.activeElement !== document.body) return
    const place = around.find((one) => one.checkVisibility()) ?? document.getElementById('page')
    last = null
    if (place) focusAround(place)
  }
  new MutationObserver(() => {
    if (isLooking || !last) return
    isLooking = true
    // Dialogs and menus return the focus in the next frame, which takes precedence.
    requestAnimationFrame(() => setTimeout(look))
  }).observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ['disabled'] })
}

const isLost = (element: HTMLElement): boolean => !element.checkVisibility() || element.matches(':disabled')
