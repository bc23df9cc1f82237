import { setTimeout as wait } from 'node:timers/promises'

/** Waits for the caller's turn. */
type Pace = (signal?: AbortSignal) => Promise<void>

type Limits = { perSecond: number; burst: number }

/** Lets `perSecond` callers through on average, in order, and up to `burst` at once after a pause. */
export function createPace(limits: Limits): Pace {
  const delayOf = createSchedule(limits)
  return async (signal) => {
    const delayMs = delayOf(performance.now())
    if (delayMs > 0) await wait(delayMs, undefined, { signal })
  }
}

/** Returns how many milliseconds a caller must wait who arrives at `now`. */
export function createSchedule({ perSecond, burst }: Limits): (now: number) => number {
  const stepMs = 1_000 / perSecond
  // The time of the next caller if there were no bursts.
  let next = Number.NEGATIVE_INFINITY
  return (now) => {
    next = Math.max(next, now - stepMs * (burst - 1))
    const delayMs = Math.max(0, next - now)
    next += stepMs
    return delayMs
  }
}
