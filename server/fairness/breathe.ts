import { setImmediate } from 'node:timers/promises'

const SLICE_MS = 8

/** For long work on the main thread: call it often; it lets other work run once a slice of time is used up. */
export function createBreather(): () => Promise<void> | undefined {
  let since = performance.now()
  return () => {
    if (performance.now() - since < SLICE_MS) return undefined
    return setImmediate().then(() => {
      since = performance.now()
    })
  }
}
