import { useLayoutEffect, useState } from 'preact/hooks'

export type Store<T> = {
  get(): T
  set(change: Partial<T>): void
  subscribe(listener: () => void): () => void
}

export function createStore<T extends object>(initial: T): Store<T> {
  let state = initial
  const listeners = new Set<() => void>()
  return {
    get: () => state,
    set(change) {
      state = { ...state, ...change }
      for (const listener of [...listeners]) listener()
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

export function useStore<T>(store: Store<T>): T {
  const [state, setState] = useState(store.get)
  useLayoutEffect(() => {
    const update = (): void => setState(store.get)
    update()
    return store.subscribe(update)
  }, [store])
  return state
}
