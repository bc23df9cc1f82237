import { createActiveHolders } from './active-holders.ts'
import { watchThread } from './watch-thread.ts'

/** Shares the main thread among bulk work; see `createTurns`. */
export type Turns = {
  /**
   * Resolves when it is the holder's turn to do work of this weight. Returns undefined when the work may start at
   * once.
   */
  take(holder: string, weight: number): Promise<void> | undefined
  /**
   * The same for work that other holders must hardly notice: after it, the holder pauses while they are active and the
   * main thread is busy. While they are not active, the work may always start at once.
   */
  giveWay(holder: string, weight: number): Promise<void> | undefined
}

/** The weight of work done before the event loop serves the network again: less than a millisecond's worth. */
const WEIGHT_AT_ONCE = 32
/** A holder with at least this many portions waiting gives way to others with all of them. */
const FLOOD = 64
/** While the main thread is busy, a holder that gives way to others gets one part in this many of its time. */
const PARTS = 16
/** The main thread's time for work of weight 1, including the work that it causes later, in milliseconds. */
const MS_OF_WEIGHT = 1 / 40

type Waiting = { weight: number; givesWay: boolean; resolve: () => void }

/**
 * Runs bulk work in small portions, serves the network in between, and takes turns among holders. A holder with much
 * work delays itself and hardly anybody else.
 */
export function createTurns(
  atOnce = WEIGHT_AT_ONCE,
  now: () => number = () => performance.now(),
  isBusy: () => boolean = watchThread(),
): Turns {
  const lines = new Map<string, Waiting[]>()
  const pausedUntil = new Map<string, number>()
  const active = createActiveHolders(now)
  let spent = 0
  let scheduled = false
  let timer: NodeJS.Timeout | undefined

  const schedule = (): void => {
    if (scheduled) return
    scheduled = true
    setImmediate(serve)
  }
  const isPaused = (holder: string): boolean => {
    const until = pausedUntil.get(holder)
    if (until === undefined) return false
    if (until > now() && active.areOthersActive(holder)) return true
    pausedUntil.delete(holder)
    return false
  }
  const isAnyoneNext = (): boolean => {
    for (const holder of lines.keys()) if (!isPaused(holder)) return true
    return false
  }
  const begin = (holder: string, weight: number, givesWay: boolean): void => {
    spent += weight
    if (givesWay && active.areOthersActive(holder) && isBusy())
      pausedUntil.set(holder, now() + weight * MS_OF_WEIGHT * PARTS)
  }
  const serve = (): void => {
    scheduled = false
    clearTimeout(timer)
    spent = 0
    for (const [holder, line] of lines) {
      if (spent >= atOnce) break
      if (isPaused(holder)) continue
      const { weight, givesWay, resolve } = line[0] as Waiting
      begin(holder, weight, givesWay || line.length >= FLOOD)
      line.shift()
      // Move the holder to the end of the round.
      lines.delete(holder)
      if (line.length > 0) lines.set(holder, line)
      resolve()
    }
    if (spent > 0) schedule()
    // Everybody who waits is paused.
    else if (lines.size > 0)
      timer = setTimeout(schedule, Math.max(1, Math.min(...pausedUntil.values()) - now()))
  }
  const enter = (holder: string, weight: number, givesWay: boolean): Promise<void> | undefined => {
    schedule()
    if (spent < atOnce && !lines.has(holder) && !isPaused(holder) && !isAnyoneNext()) {
      begin(holder, weight, givesWay)
      return undefined
    }
    return new Promise((resolve) => {
      const waiting = { weight, givesWay, resolve }
      const line = lines.get(holder)
      if (line) line.push(waiting)
      else lines.set(holder, [waiting])
    })
  }
  return {
    take(holder, weight) {
      active.note(holder)
      return enter(holder, weight, false)
    },
    giveWay(holder, weight) {
      active.note(holder)
      if (!active.areOthersActive(holder) && !lines.has(holder)) return undefined
      return enter(holder, weight, true)
    },
  }
}
