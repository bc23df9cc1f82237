import { performance } from 'node:perf_hooks'

/** The main thread counts as busy when it works for at least this share of the time. */
const BUSY = 0.5
/** The time between two measurements, in milliseconds. */
const MEASURED_MS = 100

/** Returns a function that tells whether the main thread has been busy lately. */
export function watchMainThread(): () => boolean {
  let before = performance.eventLoopUtilization()
  let measuredAt = performance.now()
  let isBusy = false
  return () => {
    const now = performance.now()
    if (now - measuredAt < MEASURED_MS) return isBusy
    const used = performance.eventLoopUtilization()
    isBusy = performance.eventLoopUtilization(used, before).utilization >= BUSY
    before = used
    measuredAt = now
    return isBusy
  }
}
