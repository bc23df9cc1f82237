import { AsyncLocalStorage } from 'node:async_hooks'
import { noteConnectionError } from './database-errors.ts'

type Work = { rank: 'urgent' | 'other' | 'bulk'; tenant: string }

const SYSTEM_TENANT: Work = { rank: 'other', tenant: '' }
const current = new AsyncLocalStorage<Work>()
const currentWork = (): Work => current.getStore() ?? SYSTEM_TENANT

/** Runs work that nobody waits for. Its statements yield to those of all other work. */
export const withLowPriority = <T>(work: () => Promise<T>): Promise<T> =>
  current.run({ ...currentWork(), rank: 'bulk' }, work)

/**
 * Runs a short statement ahead of all others. It is only for statements that have a deadline and are rate-limited by
 * their caller, since nothing else keeps them from starving the rest.
 */
export const withHighPriority = <T>(work: () => Promise<T>): Promise<T> =>
  current.run({ ...currentWork(), rank: 'urgent' }, work)

/**
 * Runs `work` and counts its database time and connections against `tenant`: an account, or the address of a client
 * that has not shown a valid key.
 */
export function withTenant<T>(tenant: string, work: () => T): T {
  const now = currentWork()
  return now.tenant === tenant ? work() : current.run({ ...now, tenant }, work)
}

/** The same as `withTenant`, for a caller whose account is not known yet. */
export const withUnknownTenant = <T>(mark: string, work: () => T): T => withTenant(`?${mark}`, work)

/** However much other work is waiting, bulk work gets one turn in this many, and this fraction of the time. */
const FOR_BULK = 16
/** A turn of bulk work counts for at most this many milliseconds, so that one that was slow does not stop the rest. */
const MAX_TURN_MS = 1_000

/** The queue for database connections; see `createLanes`. */
export type Lanes = {
  /** Waits for a connection. Resolves to a function that gives it back. */
  enter(): Promise<() => void>
}

type Options = {
  places?: number
  /** The most connections that one tenant may have at once. */
  share?: number
  /**
   * How long a caller may wait, in milliseconds, before `enter` rejects because the database is not available; null
   * means without limit.
   */
  maxMs?: number | null
  /** The clock, in milliseconds. */
  now?: () => number
}

/**
 * Shares the connections of a pool among tenants. Bulk work yields to other work. Within each of the two, the tenant that
 * has used the least database time goes first. A transaction counts as one turn.
 */
export function createLanes({
  places = 1,
  share = places,
  maxMs = null,
  now = () => performance.now(),
}: Options = {}): Lanes {
  const urgent: (() => void)[] = []
  const held = new Map<string, number>()
  const first = createTimeLine()
  const last = createTimeLine()
  let used = 0
  /** The turns, and the time, that other work has had while bulk work waited. */
  let passed = { turns: 0, ms: 0 }
  /** How long the last turn of bulk work took, in milliseconds. */
  let bulkMs = 0

  const mayHave = (tenant: string): boolean => (held.get(tenant) ?? 0) < share
  const take = ({ rank, tenant }: Work): (() => void) => {
    used++
    held.set(tenant, (held.get(tenant) ?? 0) + 1)
    const since = now()
    return () => {
      used--
      const rest = (held.get(tenant) ?? 1) - 1
      if (rest > 0) held.set(tenant, rest)
      else held.delete(tenant)
      const ms = now() - since
      if (rank === 'bulk') bulkMs = Math.min(ms, MAX_TURN_MS)
      else passed.ms += ms
      const line = rank === 'bulk' ? last : first
      line.charge(tenant, ms)
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
      const isBulks = passed.turns >= FOR_BULK && passed.ms >= bulkMs * (FOR_BULK - 1)
      const next = (isBulks && last.next(mayHave)) || first.next(mayHave) || last.next(mayHave)
      if (!next) return
      if (next.line === last || last.size === 0) passed = { turns: 0, ms: 0 }
      else passed.turns++
      next.go()
    }
  }
  const isFree = (work: Work): boolean =>
    used < places && (work.rank === 'urgent' || (mayHave(work.tenant) && first.size + last.size === 0))

  return {
    async enter() {
      const work = currentWork()
      if (isFree(work)) return take(work)
      if (work.rank === 'urgent') {
        return new Promise((resolve) => urgent.push(() => resolve(take(work))))
      }
      const line = work.rank === 'bulk' ? last : first
      return new Promise((resolve, reject) => {
        const forget = line.wait(work.tenant, () => {
          clearTimeout(timer)
          resolve(take(work))
        })
        const timer = maxMs === null ? undefined : setTimeout(giveUp, maxMs, forget, reject)
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

/** A queue for a resource whose use is measured in time; see `createTimeLine`. */
type TimeLine = {
  readonly size: number
  /**
   * Queues a request of the tenant and calls `go` when it is served. Returns a function that removes the request from
   * the queue.
   */
  wait(tenant: string, go: () => void): () => void
  /**
   * Removes and returns the first request of the tenant that has used the least time among those for which `mayGo` is
   * true; null when there is none.
   */
  next(mayGo: (tenant: string) => boolean): { line: TimeLine; go: () => void } | null
  /** Charges the tenant with database time. */
  charge(tenant: string, ms: number): void
}

/** The number of tenants to remember before the ones with nothing waiting are dropped. */
const MANY_HOLDERS = 1_000

/**
 * Creates a queue in which the tenant that has used the least time goes first. A tenant that is new, or comes back,
 * starts with the time of the one served last, so nobody can save up time.
 */
function createTimeLine(): TimeLine {
  const lines = new Map<string, (() => void)[]>()
  const had = new Map<string, number>()
  let size = 0
  /** The usage of the most recently served tenant at the time it was served. */
  let mark = 0
  let forgetAt = MANY_HOLDERS

  const forgetIdle = (): void => {
    for (const [tenant, ms] of had) if (ms <= mark && !lines.has(tenant)) had.delete(tenant)
    forgetAt = Math.max(MANY_HOLDERS, 2 * had.size)
  }
  const shift = (tenant: string): (() => void) => {
    const line = lines.get(tenant) ?? []
    const go = line.shift() ?? (() => {})
    size--
    // Move the tenant to the end, so that tenants with the same time take turns.
    lines.delete(tenant)
    if (line.length > 0) lines.set(tenant, line)
    return go
  }
  const self: TimeLine = {
    get size() {
      return size
    },
    wait(tenant, go) {
      const line = lines.get(tenant)
      size++
      if (line) line.push(go)
      else {
        lines.set(tenant, [go])
        had.set(tenant, Math.max(had.get(tenant) ?? 0, mark))
      }
      return () => {
        const waiting = lines.get(tenant)
        const at = waiting?.indexOf(go) ?? -1
        if (!waiting || at === -1) return
        waiting.splice(at, 1)
        size--
        if (waiting.length === 0) lines.delete(tenant)
      }
    },
    next(mayGo) {
      let best: string | null = null
      let least = Number.POSITIVE_INFINITY
      for (const tenant of lines.keys()) {
        const ms = had.get(tenant) ?? 0
        if (ms >= least || !mayGo(tenant)) continue
        best = tenant
        least = ms
      }
      if (best === null) return null
      mark = Math.max(mark, least)
      return { line: self, go: shift(best) }
    },
    charge(tenant, ms) {
      had.set(tenant, (had.get(tenant) ?? 0) + ms)
      if (had.size > forgetAt) forgetIdle()
    },
  }
  return self
}
