/** The order in which a server gets questions that somebody waits for, and batches of passages. */
export type Lane = {
  /** Runs one batch at a time, and begins none while questions are under way, unless it has waited for a second. */
  passages<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>
  /** Runs the work at once. */
  question<T>(work: () => Promise<T>): Promise<T>
}

/** Questions that come without a pause must not keep training from its end. */
const MAX_HELD_MS = 1_000

export function createLane(): Lane {
  const waiting: (() => void)[] = []
  let questions = 0
  let isBusy = false
  let held: NodeJS.Timeout | undefined

  const start = (): void => {
    clearTimeout(held)
    held = undefined
    const next = isBusy ? undefined : waiting.shift()
    if (!next) return
    isBusy = true
    next()
  }
  const startUnlessAsked = (): void => {
    if (questions === 0) start()
    else if (!isBusy && waiting.length > 0) held ??= setTimeout(start, MAX_HELD_MS)
  }
  const turn = (signal: AbortSignal | undefined): Promise<void> =>
    new Promise((resolve, reject) => {
      const begin = (): void => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      }
      const onAbort = (): void => {
        waiting.splice(waiting.indexOf(begin), 1)
        reject(signal?.reason)
      }
      if (signal?.aborted) return reject(signal.reason)
      signal?.addEventListener('abort', onAbort, { once: true })
      waiting.push(begin)
      startUnlessAsked()
    })

  return {
    async passages(work, signal) {
      await turn(signal)
      try {
        return await work()
      } finally {
        isBusy = false
        startUnlessAsked()
      }
    },
    async question(work) {
      questions++
      try {
        return await work()
      } finally {
        questions--
        startUnlessAsked()
      }
    },
  }
}
