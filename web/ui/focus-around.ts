/** Matches the parts of a page that get the focus when an element in them loses it. */
export const PLACES = 'section, form, fieldset, nav, aside, main, [role=dialog]'

/** Focuses the nearest part of the page around the element, or the element itself if it is one. */
export function focusAround(element: HTMLElement | null | undefined): void {
  const place = element?.closest<HTMLElement>(PLACES)
  if (!place) return
  if (!place.hasAttribute('tabindex')) place.tabIndex = -1
  place.focus({ preventScroll: true })
}
