import { useSyncExternalStore } from 'react'

/** A value that distant parts of the page share. */
type Store<T> = { get(): T; set(value: T): void; use(): T }

export function createStore<T>(first: T): Store<T> {
  let value = first
  const listeners = new Set<() => void>()
  const get = (): T => value
  const subscribe = (listen: () => void) => {
    listeners.add(listen)
    return () => listeners.delete(listen)
  }
  return {
    get,
    set(next) {
      value = next
      for (const listen of [...listeners]) listen()
    },
    use: () => useSyncExternalStore(subscribe, get),
  }
}
