const phone = matchMedia('(max-width: 480px), (max-height: 480px)')

/** Whether the panel covers the page. The media query is the same as in the style sheet. */
export const isPhone = (): boolean => phone.matches

/** Calls `listener` when the window is resized, or the phone rotated, across that limit. */
export function onPhoneChange(listener: () => void, signal: AbortSignal): void {
  phone.addEventListener('change', listener, { signal })
}

/** Keeps the panel above the on-screen keyboard, which does not resize the page. */
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
