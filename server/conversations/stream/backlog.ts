import { getHeapStatistics } from 'node:v8'
import type { AccountId } from '../../db/tables/columns.ts'

/**
 * How many characters of events may wait for the log. While the database is away, everything that was said since then
 * has to stay in memory, where a character of an encoded event takes about two bytes, because the event itself is kept,
 * too. An eighth of the heap's limit is therefore a quarter of the heap.
 */
const MOST_CHARACTERS = Math.floor(getHeapStatistics().heap_size_limit / 8)

/** What the answers of this process have said that is not in the log yet. */
export type Backlog = {
  /** Counts more characters of the account's events, or fewer with a negative number. */
  add(accountId: AccountId, characters: number): void
  /** Whether nothing more may be said for the account. Half of the room is the most that one account gets. */
  isFull(accountId: AccountId): boolean
  /** Resolves when there is room for the account, or the signal is aborted. Returns undefined when there is room. */
  room(accountId: AccountId, signal: AbortSignal): Promise<void> | undefined
}

/** `most` is the number of characters for all accounts together. */
export function createBacklog(most = MOST_CHARACTERS): Backlog {
  const ofAccount = new Map<AccountId, number>()
  const waiting = new Set<() => void>()
  let all = 0
  const isFull = (accountId: AccountId): boolean => all >= most || (ofAccount.get(accountId) ?? 0) >= most / 2
  return {
    isFull,
    add(accountId, characters) {
      all += characters
      const own = (ofAccount.get(accountId) ?? 0) + characters
      if (own > 0) ofAccount.set(accountId, own)
      else ofAccount.delete(accountId)
      if (characters < 0 && all < most) for (const look of waiting) look()
    },
    room(accountId, signal) {
      if (!isFull(accountId) || signal.aborted) return undefined
      return new Promise((resolve) => {
        const look = (): void => {
          if (isFull(accountId) && !signal.aborted) return
          waiting.delete(look)
          signal.removeEventListener('abort', look)
          resolve()
        }
        waiting.add(look)
        signal.addEventListener('abort', look)
      })
    },
  }
}
