import { ParleyError } from '../../client/parley-error.ts'
import { randomKey } from '../../client/random-key.ts'

/** How long an equal change counts as a repetition of one whose outcome is unknown. Later, it is a new one. */
const REPETITION_MS = 10 * 60_000

type Attempt = { key: string; triedAt: number; running: Promise<unknown> | null }

/** The changes that are running, and those that may have taken effect although no response has arrived. */
const attempts = new Map<string, Attempt>()

/**
 * Sends a change once; `change` describes it. While an equal one is running, its result is returned. A repetition of one
 * whose outcome is unknown is sent with the same Idempotency-Key, so that it takes effect once.
 */
export function onlyOnce<T>(
  change: string,
  send: (headers: Record<string, string>) => Promise<T>,
): Promise<T> {
  const earlier = attempts.get(change)
  if (earlier?.running) return earlier.running as Promise<T>
  const isRepetition = earlier !== undefined && Date.now() - earlier.triedAt < REPETITION_MS
  const key = isRepetition ? earlier.key : randomKey()
  const running = send({ 'idempotency-key': key }).then(
    (answer) => {
      attempts.delete(change)
      return answer
    },
    (error: unknown) => {
      if (error instanceof ParleyError && !error.canPass) attempts.delete(change)
      else attempts.set(change, { key, triedAt: Date.now(), running: null })
      throw error
    },
  )
  attempts.set(change, { key, triedAt: Date.now(), running })
  return running
}
