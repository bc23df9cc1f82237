/** Milliseconds. */
export type CallTimes = { firstToken: number; idle: number; total: number }

/** Checks that a model call, including its second attempt, makes progress. */
export type CallClock = {
  /** Reports that something was read. It only reads the time, so it may be called for every read. */
  alive(): void
  /**
   * Reports that a part of the answer or of the reasoning before it was read. From then on, the idle timeout applies.
   */
  content(): void
  /** Reports a new attempt, whose first part gets the full time of a first part. The total time continues. */
  restart(): void
  /** While it is held, only the total time passes: nothing is read because the caller has not asked for more. */
  hold(isHeld: boolean): void
  stop(): void
}

/** Starts at once. `onTimeout` is called at most once, with the timeout that has expired. */
export function startCallClock(times: CallTimes, onTimeout: (time: keyof CallTimes) => void): CallClock {
  let now = performance.now()
  const end = now + times.total
  let lastSign = now
  let silence: 'firstToken' | 'idle' = 'firstToken'
  let held = false
  let timer: NodeJS.Timeout
  const check = (): void => {
    now = performance.now()
    if (held) lastSign = now
    if (now >= end) onTimeout('total')
    else if (now >= lastSign + times[silence]) onTimeout(silence)
    else watch()
  }
  // A single timer sleeps until the earliest possible timeout; progress does not reset it.
  const watch = (): void => {
    timer = setTimeout(check, Math.ceil(Math.min(lastSign + times[silence], end) - now))
  }
  const expect = (next: typeof silence): void => {
    silence = next
    now = lastSign = performance.now()
    clearTimeout(timer)
    watch()
  }
  watch()
  return {
    alive() {
      lastSign = performance.now()
    },
    content() {
      if (silence === 'firstToken') expect('idle')
      else lastSign = performance.now()
    },
    restart: () => expect('firstToken'),
    hold(isHeld) {
      held = isHeld
      lastSign = performance.now()
    },
    stop: () => clearTimeout(timer),
  }
}
