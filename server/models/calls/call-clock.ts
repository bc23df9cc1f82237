/** Milliseconds. */
export type CallTimes = { firstToken: number; idle: number; total: number }

/** Watches that one call of a model, a second attempt included, goes on. */
export type CallClock = {
  /** Something was read. It costs a look at the time, so it may be told of every read. */
  alive(): void
  /** A piece of an answer or of the thinking before it was read: from here on the idle time counts. */
  content(): void
  /** A new attempt: its first piece may take as long as the first one's. The total time goes on. */
  restart(): void
  stop(): void
}

/** Starts counting at once; `onTimeout` is told, once, which of the times is over. */
export function startCallClock(times: CallTimes, onTimeout: (time: keyof CallTimes) => void): CallClock {
  let now = performance.now()
  const end = now + times.total
  let lastSign = now
  let silence: 'firstToken' | 'idle' = 'firstToken'
  let timer: NodeJS.Timeout
  const check = (): void => {
    now = performance.now()
    if (now >= end) onTimeout('total')
    else if (now >= lastSign + times[silence]) onTimeout(silence)
    else watch()
  }
  // One timer sleeps until the call can be over at the earliest; signs of life do not touch it.
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
    stop: () => clearTimeout(timer),
  }
}
