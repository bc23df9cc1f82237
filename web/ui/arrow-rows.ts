import type { KeyboardEvent } from 'react'

/**
 * Handles the arrow keys of a list, which move the focus to the row above or below. Only one row of such a list is in
 * the tab order, because Tab would never leave a list that loads more rows.
 */
export function moveByArrow(event: KeyboardEvent<HTMLElement>): void {
  const row = event.target instanceof Element ? event.target.closest('li') : null
  const next =
    event.key === 'ArrowDown'
      ? row?.nextElementSibling
      : event.key === 'ArrowUp'
        ? row?.previousElementSibling
        : null
  if (!next) return
  event.preventDefault()
  next.querySelector('button')?.focus()
}
