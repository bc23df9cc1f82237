import { useSyncExternalStore } from 'react'

type Theme = 'system' | 'light' | 'dark'

const KEY = 'parley:theme'
const dark = matchMedia('(prefers-color-scheme: dark)')
const listeners = new Set<() => void>()

const chosenTheme = (): Theme => {
  const kept = localStorage.getItem(KEY)
  return kept === 'light' || kept === 'dark' ? kept : 'system'
}

export function applyTheme(): void {
  const theme = chosenTheme()
  document.documentElement.dataset.theme = theme === 'system' ? (dark.matches ? 'dark' : 'light') : theme
}
dark.addEventListener('change', applyTheme)

export function chooseTheme(theme: Theme): void {
  localStorage.setItem(KEY, theme)
  applyTheme()
  for (const listen of listeners) listen()
}

export const useTheme = (): Theme =>
  useSyncExternalStore((listen) => {
    listeners.add(listen)
    return () => listeners.delete(listen)
  }, chosenTheme)
