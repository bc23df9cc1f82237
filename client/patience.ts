import { ParleyError } from './parley-error.ts'
import { withDeadline } from './parse-events.ts'

/** The timeouts and delays, in milliseconds. */
export type Patience = {
  /** A connection on which no byte has arrived for this long counts as dead. The service sends a comment every 15 s. */
  silenceMs: number
  /** A request that has had no response for this long is aborted, and sent again if that is safe. */
  responseMs: number
  /** The delay before the first retry. It doubles with each retry up to `longestDelayMs`, with jitter. */
  firstDelayMs: number
  longestDelayMs: number
  /** When retries have failed for this long without a new event, the error is thrown to the consumer. */
  giveUpMs: number
  /** The same limit for a first request, counted from its first failure. */
  firstAnswerMs: number
  /**
   * How long to wait for the stored end of an answer. If the process of an answer died, the answer is stored when its
   * lease of 15 s expires.
   */
  storedMs: number
}

export const usualPatience: Patience = {
  silenceMs: 45_000,
  responseMs: 20_000,
  firstDelayMs: 250,
  longestDelayMs: 5_000,
  giveUpMs: 120_000,
  firstAnswerMs: 10_000,
  storedMs: 20_000,
}

/** A series of retries, which ends when there is progress or the time is up. */
export type Tries = {
  /** Forgets the failures so far. */
  progress(): void
  /**
   * Waits before the next try. Throws `error` when it is not transient or the time is up. Throws when `signal`
   * aborts.
   */
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

/** Returns a new controller that is also aborted by the given signal. */
export function linkedTo(signal: AbortSignal | undefined): AbortController {
  const controller = new AbortController()
  if (signal?.aborted) controller.abort(signal.reason)
  signal?.addEventListener('abort', () => controller.abort(signal.reason), { once: true })
  return controller
}

/**
 * Runs one request. Throws when it takes longer than `responseMs` or `signal` aborts. The request's signal also aborts
 * when `signal` does so later, while the body is being read.
 */
export async function attempt<T>(
  request: (signal: AbortSignal) => Promise<T>,
  { responseMs }: Pick<Patience, 'responseMs'>,
  signal: AbortSignal | undefined,
): Promise<T> {
  const controller = linkedTo(signal)
  try {
    return await withDeadline(request(controller.signal), responseMs, signal)
  } catch (error) {
    controller.abort()
    throw error
  }
}
