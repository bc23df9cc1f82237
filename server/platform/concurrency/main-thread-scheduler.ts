import { createActiveTenants } from './active-tenants.ts'
import { watchMainThread } from './watch-main-thread.ts'

/** Shares the main thread among bulk work; see `createMainThreadScheduler`. */
export type MainThreadScheduler = {
  /**
   * Resolves when it is the tenant's turn to do work of this weight. Returns undefined when the work may start at
   * once.
   */
  take(tenant: string, weight: number): Promise<void> | undefined
  /**
   * The same for work that other tenants must hardly notice: after it, the tenant pauses while they are active and the
   * main thread is busy. While they are not active, the work may always start at once.
   */
  yieldTurn(tenant: string, weight: number): Promise<void> | undefined
}

/** The weight of work done before the event loop serves the network again: less than a millisecond's worth. */
const WEIGHT_AT_ONCE = 32
/** A tenant with at least this many portions waiting gives way to others with all of them. */
const FLOOD = 64
/** While the main thread is busy, a tenant that gives way to others gets one part in this many of its time. */
const PARTS = 16
/** The main thread's time for work of weight 1, including the work that it causes later, in milliseconds. */
const MS_OF_WEIGHT = 1 / 40

type Waiting = { weight: number; givesWay: boolean; resolve: () => void }

/**
 * Runs bulk work in small portions, serves the network in between, and takes turns among tenants. A tenant with much
 * work delays itself and hardly anybody else.
 */
export function createMainThreadScheduler(
  atOnce = WEIGHT_AT_ONCE,
  now: () => number = () => performance.now(),
  isBusy: () => boolean = watchMainThread(),
): MainThreadScheduler {
  const lines = new Map<string, Waiting[]>()
  const pausedUntil = new Map<string, number>()
  const active = createActiveTenants(now)
  let spent = 0
  let scheduled = false
  let timer: NodeJS.Timeout | undefined

  const schedule = (): void => {
    if (scheduled) return
    scheduled = true
    setImmediate(serve)
  }
  const isPaused = (tenant: string): boolean => {
    const until = pausedUntil.get(tenant)
    if (until === undefined) return false
    if (until > now() && active.areOthersActive(tenant)) return true
    pausedUntil.delete(tenant)
    return false
  }
  const isAnyoneNext = (): boolean => {
    for (const tenant of lines.keys()) if (!isPaused(tenant)) return true
    return false
  }
  const begin = (tenant: string, weight: number, givesWay: boolean): void => {
    spent += weight
    if (givesWay && active.areOthersActive(tenant) && isBusy())
      pausedUntil.set(tenant, now() + weight * MS_OF_WEIGHT * PARTS)
  }
  const serve = (): void => {
    scheduled = false
    clearTimeout(timer)
    spent = 0
    for (const [tenant, line] of lines) {
      if (spent >= atOnce) break
      if (isPaused(tenant)) continue
      const isFlood = line.length >= FLOOD
      const first = line.shift()
      if (!first) continue
      const { weight, givesWay, resolve } = first
      begin(tenant, weight, givesWay || isFlood)
      // Move the tenant to the end of the round.
      lines.delete(tenant)
      if (line.length > 0) lines.set(tenant, line)
      resolve()
    }
    if (spent > 0) schedule()
    // Everybody who waits is paused.
    else if (lines.size > 0)
      timer = setTimeout(schedule, Math.max(1, Math.min(...pausedUntil.values()) - now()))
  }
  const enter = (tenant: string, weight: number, givesWay: boolean): Promise<void> | undefined => {
    schedule()
    if (spent < atOnce && !lines.has(tenant) && !isPaused(tenant) && !isAnyoneNext()) {
      begin(tenant, weight, givesWay)
      return undefined
    }
    return new Promise((resolve) => {
      const waiting = { weight, givesWay, resolve }
      const line = lines.get(tenant)
      if (line) line.push(waiting)
      else lines.set(tenant, [waiting])
    })
  }
  return {
    take(tenant, weight) {
      active.note(tenant)
      return enter(tenant, weight, false)
    },
    yieldTurn(tenant, weight) {
      active.note(tenant)
      if (!active.areOthersActive(tenant) && !lines.has(tenant)) return undefined
      return enter(tenant, weight, true)
    },
  }
}
