import type { ModelFailure } from '../failures/model-failure.ts'

/** How many texts are sent to a model at once, and how long they may take. */
type Pace = {
  next(): { size: number; timeoutMs: number }
  /** Notes how long a batch took. */
  took(count: number, ms: number): void
  /** Returns whether smaller batches, or more time, may help against a failure; the next ones are. */
  failed(failure: ModelFailure, count: number): boolean
}

/** The target time of a batch, without the latency of a request. A question may have to wait this long. */
const BATCH_MS = 500
/** The number of batches after a slow one before a larger one is tried again. */
const CALM = 20
/** A single passage may take this long on a busy machine. */
const MAX_TIMEOUT_MS = 300_000
/** Later batches may take this many times as long as the last one. */
const PATIENCE = 10
/** The statuses with which servers refuse more texts than they take at once. */
const TOO_MANY = [400, 413, 422]

const half = (count: number): number => Math.max(1, Math.ceil(count / 2))

/**
 * Doubles the size of batches as long as they are quick, and halves it when one is slow. The time of the quickest request
 * does not count: that of a distant server does not become less with fewer texts, and nobody waits for it.
 */
export function createPace(most: number, timeoutMs: number): Pace {
  let accepted = most
  let size = 1
  let quickest = Number.POSITIVE_INFINITY
  let calm = 0
  let patience = timeoutMs
  return {
    next: () => ({ size, timeoutMs: patience }),
    took(count, ms) {
      patience = Math.max(timeoutMs, Math.min(patience, PATIENCE * ms))
      quickest = count === 1 ? ms : Math.min(quickest, ms)
      const own = ms - quickest
      if (own > BATCH_MS) {
        size = half(count)
        calm = CALM
      } else if (count === size && own < BATCH_MS / 2 && --calm < 0) size = Math.min(accepted, 2 * size)
    },
    failed({ kind, answer }, count) {
      if (kind === 'timeout') {
        if (count === 1 && patience >= MAX_TIMEOUT_MS) return false
        size = half(count)
        calm = CALM
        patience = Math.max(patience, Math.min(2 * patience, MAX_TIMEOUT_MS))
        return true
      }
      if (kind !== 'rejected' || !TOO_MANY.includes(answer?.status ?? 0)) return false
      // Where a single text is refused as well, there were not too many.
      accepted = count === 1 ? most : half(count)
      size = half(count)
      return count > 1
    },
  }
}
