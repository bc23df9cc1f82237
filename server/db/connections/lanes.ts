import { AsyncLocalStorage } from 'node:async_hooks'
import { createTimeLine } from '../../fairness/time-line.ts'
import { noteConnectionError } from './unavailable.ts'

type Work = { rank: 'urgent' | 'other' | 'bulk'; holder: string }

const HOUSE: Work = { rank: 'other', holder: '' }
const current = new AsyncLocalStorage<Work>()
const now = (): Work => current.getStore() ?? HOUSE

/** Runs work that nobody waits for. Its statements yield to those of all other work. */
export const asBulk = <T>(work: () => Promise<T>): Promise<T> => current.run({ ...now(), rank: 'bulk' }, work)

/**
 * Runs a short statement ahead of all others. It is only for statements that have a deadline and are rate-limited by
 * their caller, since nothing else keeps them from starving the rest.
 */
export const asUrgent = <T>(work: () => Promise<T>): Promise<T> =>
  current.run({ ...now(), rank: 'urgent' }, work)

/**
 * Runs `work` and counts its database time and connections against `holder`: an account, or the address of a client
 * that has not shown a valid key.
 */
export const onBehalfOf = <T>(holder: string, work: () => T): T => current.run({ ...now(), holder }, work)

/** The same as `onBehalfOf`, for a caller whose account is not known yet. */
export const onBehalfOfStranger = <T>(mark: string, work: () => T): T => onBehalfOf(`?${mark}`, work)

/**
 * Returns whether the holder is an account or an address, and neither the service itself nor a caller who is still
 * being identified.
 */
const isSomebody = (holder: string): boolean => holder !== '' && !holder.startsWith('?')

/** A holder counts as active for this long after it last took a connection, in milliseconds. */
const AT_WORK_MS = 250

/** Bulk work gets at least one turn in this many, however much other work is waiting. */
const FOR_BULK = 16

/** The queue for database connections; see `createLanes`. */
export type Lanes = {
  /** Waits for a connection. Resolves to a function that gives it back. */
  enter(): Promise<() => void>
}

type Options = {
  places?: number
  /** The most connections that one holder may have at once. */
  share?: number
  /**
   * How long a caller may wait, in milliseconds, before `enter` rejects because the database is not available; null
   * means without limit.
   */
  longestMs?: number | null
}

/**
 * Shares the connections of a pool among holders. A holder that has a flood of statements waiting gets a fifth of the
 * connections while other holders are active, because they share the time of the database server, too. Bulk work
 * yields to other work. Within each of the two, the holder that has used the least database time goes first. A
 * transaction counts as one turn.
 */
export function createLanes({ places = 1, share = places, longestMs = null }: Options = {}): Lanes {
  const urgent: (() => void)[] = []
  const held = new Map<string, number>()
  const first = createTimeLine()
  const last = createTimeLine()
  let used = 0
  let passed = 0

  const flood = Math.max(1, Math.floor(places / 5))
  /** The holder that took a connection last, and the latest one before it that is another holder. */
  let newest = { holder: '', at: Number.NEGATIVE_INFINITY }
  let other = newest

  const areOthersAtWork = (holder: string): boolean => {
    const { at } = newest.holder === holder ? other : newest
    return performance.now() - at < AT_WORK_MS
  }
  const mayHave = (holder: string): boolean => {
    const has = held.get(holder) ?? 0
    return has < flood || (has < share && !(first.isFlood(holder) && areOthersAtWork(holder)))
  }
  const take = ({ rank, holder }: Work): (() => void) => {
    used++
    held.set(holder, (held.get(holder) ?? 0) + 1)
    const since = performance.now()
    if (isSomebody(holder)) {
      if (newest.holder !== holder) other = newest
      newest = { holder, at: since }
    }
    return () => {
      used--
      const rest = (held.get(holder) ?? 1) - 1
      if (rest > 0) held.set(holder, rest)
      else held.delete(holder)
      const line = rank === 'bulk' ? last : first
      line.charge(holder, performance.now() - since)
      serve()
    }
  }
  const serve = (): void => {
    while (used < places) {
      const hurried = urgent.shift()
      if (hurried) {
        hurried()
        continue
      }
      const isBulks = passed >= FOR_BULK
      const next = (isBulks && last.next(mayHave)) || first.next(mayHave) || last.next(mayHave)
      if (!next) return
      passed = next.line === last || last.size === 0 ? 0 : passed + 1
      next.go()
    }
  }
  const isFree = (work: Work): boolean =>
    used < places && (work.rank === 'urgent' || (mayHave(work.holder) && first.size + last.size === 0))

  return {
    async enter() {
      const work = now()
      if (isFree(work)) return take(work)
      if (work.rank === 'urgent') {
        return new Promise((resolve) => urgent.push(() => resolve(take(work))))
      }
      const line = work.rank === 'bulk' ? last : first
      return new Promise((resolve, reject) => {
        const forget = line.wait(work.holder, () => {
          clearTimeout(timer)
          resolve(take(work))
        })
        const timer = longestMs === null ? undefined : setTimeout(giveUp, longestMs, forget, reject)
        serve()
      })
    },
  }
}

function giveUp(forget: () => void, reject: (error: Error) => void): void {
  forget()
  const error = new Error('No connection to the database became free in time.')
  noteConnectionError(error)
  reject(error)
}
