import { setImmediate } from 'node:timers/promises'

const SLICE_MS = 8

/**
 * Returns a function for long work on the main thread to call often. It yields to the event loop once a time slice is
 * used up.
 */
export function createYielder(): () => Promise<void> | undefined {
  let since = performance.now()
  return () => {
    if (performance.now() - since < SLICE_MS) return undefined
    return setImmediate().then(() => {
      since = performance.now()
    })
  }
}
