import { AsyncLocalStorage } from 'node:async_hooks'
import { createTimeLine } from '../fairness/time-line.ts'
import { noteConnectionError } from './unavailable.ts'

type Work = { rank: 'urgent' | 'other' | 'bulk'; holder: string }

const HOUSE: Work = { rank: 'other', holder: '' }
const current = new AsyncLocalStorage<Work>()
const now = (): Work => current.getStore() ?? HOUSE

/** Runs work that nobody waits for: the statements of everybody else go before its own. */
export const asBulk = <T>(work: () => Promise<T>): Promise<T> => current.run({ ...now(), rank: 'bulk' }, work)

/**
 * Runs a short statement ahead of all others. It is only for statements that have a deadline and are rate-limited by
 * their caller, since nothing else keeps them from starving the rest.
 */
export const asUrgent = <T>(work: () => Promise<T>): Promise<T> =>
  current.run({ ...now(), rank: 'urgent' }, work)

/** Runs work whose statements take from the share of this holder: an account, or an address that has shown no key. */
export const onBehalfOf = <T>(holder: string, work: () => T): T => current.run({ ...now(), holder }, work)

/** As `onBehalfOf` for a caller whose account is not known yet. */
export const onBehalfOfStranger = <T>(mark: string, work: () => T): T => onBehalfOf(`?${mark}`, work)

/** An account, or an address; not the service itself, nor who is only being asked for a name. */
const isSomebody = (holder: string): boolean => holder !== '' && !holder.startsWith('?')

/** Whoever had a connection so recently is at work. */
const AT_WORK_MS = 250

/** One turn in this many goes to bulk work, however much other work is waiting. */
const FOR_BULK = 16

/** Who waits for a connection; see `createLanes`. */
export type Lanes = {
  /** Waits for a connection and answers how to leave it. */
  enter(): Promise<() => void>
}

type Options = {
  places?: number
  /** The most connections of one holder. */
  share?: number
  /** Whoever waits longer is told that the database is not available. */
  longestMs?: number | null
}

/**
 * Shares connections: while others are at work, a flood has a fifth of them, because the time of the server behind them
 * is shared, too. Bulk work yields to other work, and among each the holder goes first that has had the least of
 * the database's time. A transaction is one turn.
 */
export function createLanes({ places = 1, share = places, longestMs = null }: Options = {}): Lanes {
  const urgent: (() => void)[] = []
  const held = new Map<string, number>()
  const first = createTimeLine()
  const last = createTimeLine()
  let used = 0
  let passed = 0

  const flood = Math.max(1, Math.floor(places / 5))
  /** Who was the last to have a connection, and who was before. */
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
