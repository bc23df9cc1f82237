import { useEffect, useState } from 'react'

const PREFIX = 'parley:kept:'
const OWNER = 'parley:kept-by'

/** Returns what this tab keeps under a name, or null. */
export function readKept<T>(name: string): T | null {
  const text = sessionStorage.getItem(PREFIX + name)
  return text === null ? null : JSON.parse(text)
}

/** Keeps a value until the tab is closed; null removes it. */
export function keep(name: string, value: unknown): void {
  try {
    if (value === null) sessionStorage.removeItem(PREFIX + name)
    else sessionStorage.setItem(PREFIX + name, JSON.stringify(value))
  } catch {
    // The storage is full. The page works, but this value will not survive a reload.
  }
}

/** Removes what the tab keeps of another member. Called before a page of this member reads anything. */
export function keepFor(memberId: string): void {
  if (sessionStorage.getItem(OWNER) === memberId) return
  forget('')
  sessionStorage.setItem(OWNER, memberId)
}

/** Removes everything whose name begins with this prefix. */
export function forget(prefix: string): void {
  for (const name of Object.keys(sessionStorage))
    if (name.startsWith(PREFIX + prefix)) sessionStorage.removeItem(name)
}

/** State that survives a reload of the page. `isWorthKeeping` says whether it differs from what a new page shows. */
export function useKept<T>(name: string, first: () => T, isWorthKeeping: (value: T) => boolean) {
  const [value, setValue] = useState<T>(() => readKept<T>(name) ?? first())
  const kept = isWorthKeeping(value) ? value : null
  useEffect(() => keep(name, kept), [name, kept])
  return [value, setValue] as const
}
