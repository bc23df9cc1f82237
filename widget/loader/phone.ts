const phone = matchMedia('(max-width: 480px), (max-height: 480px)')

/** Where the panel covers the page; the same as in the style. */
export const isPhone = (): boolean => phone.matches

/** When the window, or the phone, is turned. */
export function onPhoneChange(listener: () => void, signal: AbortSignal): void {
  phone.addEventListener('change', listener, { signal })
}

/** Keeps the panel above the keyboard on the screen, which makes the page no smaller. */
export function followKeyboard(panel: HTMLElement, signal: AbortSignal): void {
  const view = window.visualViewport
  if (!view) return
  const fit = (): void => {
    const isCovering = phone.matches && view.scale === 1
    panel.style.height = isCovering ? `${view.height}px` : ''
    panel.style.top = isCovering ? `${view.offsetTop}px` : ''
  }
  view.addEventListener('resize', fit, { signal })
  view.addEventListener('scroll', fit, { signal })
  fit()
}
