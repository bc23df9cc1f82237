import { ParleyError } from './parley-error.ts'

/** How long to wait for what, in milliseconds. */
export type Patience = {
  /** No byte for so long: the connection is dead. The service sends a comment every 15 s. */
  silenceMs: number
  /** Before the first new try; doubled up to the longest, each time with jitter. */
  firstDelayMs: number
  longestDelayMs: number
  /** No new event for so long: the error goes to the consumer. */
  giveUpMs: number
  /** The same for a first request that no service has answered. */
  firstAnswerMs: number
  /** An answer whose process died is stored when its lease of 15 s has run out. */
  storedMs: number
}

export const usualPatience: Patience = {
  silenceMs: 45_000,
  firstDelayMs: 250,
  longestDelayMs: 5_000,
  giveUpMs: 120_000,
  firstAnswerMs: 10_000,
  storedMs: 20_000,
}

/** Tries one after another, until there is progress or the time is over. */
export type Tries = {
  /** Forgets the failures so far. */
  progress(): void
  /** Waits before the next try. Throws `error` when it cannot pass or the time is over, and when `signal` aborts. */
  pause(error: unknown, signal: AbortSignal | undefined, atLeastMs?: number): Promise<void>
}

export function createTries(patience: Patience, giveUpMs: number): Tries {
  let failures = 0
  let failingSince = 0
  return {
    progress() {
      failures = 0
    },
    async pause(error, signal, atLeastMs = 0) {
      signal?.throwIfAborted()
      const told = error instanceof ParleyError ? error : undefined
      if (told && !told.canPass) throw error
      const now = Date.now()
      if (failures === 0) failingSince = now
      const backoff = Math.min(patience.longestDelayMs, patience.firstDelayMs * 2 ** failures)
      failures += 1
      const wait = Math.max(backoff * (0.5 + Math.random() / 2), told?.retryAfterMs ?? 0, atLeastMs)
      if (now + wait - failingSince > giveUpMs) throw error
      await sleep(wait, signal)
    },
  }
}

function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    }, ms)
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}
