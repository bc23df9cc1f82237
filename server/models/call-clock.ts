import { ModelFailure } from './model-failure.ts'

/** Milliseconds. */
export type CallTimes = { firstToken: number; idle: number; total: number }

/** Ends one call, retry included, when its time is over or its caller does not want it any more. */
export type CallClock = {
  /** For the provider: aborts when the call ends, for whatever reason. */
  signal: AbortSignal
  /** The promise, or the failure when the call ends first. One promise at a time. */
  race<T>(promise: Promise<T>): Promise<T>
  /** Content came: from here on the idle time counts. */
  tick(): void
  /** Why the clock ended the call, if it did. */
  failure(): ModelFailure | null
  stop(): void
}

/** Starts counting at once. */
export function createCallClock(times: CallTimes, outer: AbortSignal): CallClock {
  const controller = new AbortController()
  let failure: ModelFailure | null = null
  let giveUp: ((reason: ModelFailure) => void) | null = null
  const end = (kind: 'timeout' | 'aborted'): void => {
    failure ??= new ModelFailure(kind)
    giveUp?.(failure)
    controller.abort(failure)
  }
  const onOuterAbort = (): void => end('aborted')
  let silence = setTimeout(end, times.firstToken, 'timeout')
  const total = setTimeout(end, times.total, 'timeout')
  let ticked = false
  if (outer.aborted) onOuterAbort()
  else outer.addEventListener('abort', onOuterAbort, { once: true })
  return {
    signal: controller.signal,
    // Not Promise.race: against one promise that lives as long as the stream, every part would leave a listener.
    race: (promise) =>
      new Promise((resolve, reject) => {
        giveUp = reject
        promise.then(resolve, reject)
        if (failure) reject(failure)
      }),
    tick() {
      if (ticked) {
        silence.refresh()
        return
      }
      ticked = true
      clearTimeout(silence)
      silence = setTimeout(end, times.idle, 'timeout')
    },
    failure: () => failure,
    stop() {
      clearTimeout(silence)
      clearTimeout(total)
      outer.removeEventListener('abort', onOuterAbort)
      controller.abort(new ModelFailure('aborted'))
    },
  }
}
