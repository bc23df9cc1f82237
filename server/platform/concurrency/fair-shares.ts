/** Thrown when a tenant already has too many requests waiting. */
export class PlacesFull extends Error {
  override name = 'PlacesFull'
}

/** Limits how much work runs at once, fairly among the accounts that ask for it; see `createFairPlaces`. */
export type FairPlaces = {
  /**
   * Waits for a place and resolves to a function that gives it back. `most` limits the places of this tenant further,
   * below the share that applies to every tenant. Throws PlacesFull, and the signal's reason when it is aborted.
   */
  enter(tenant: string, signal?: AbortSignal, most?: number): Promise<() => void>
}

type Options = {
  places: number
  /** The most places that one tenant gets even when nobody else waits, because running work cannot be preempted. */
  share?: number
  /** The most requests of one tenant that may wait. */
  maxWaiting?: number
}

type Waiting = {
  resolve: (leave: () => void) => void
  signal: AbortSignal | undefined
  abandon: () => void
  most: number
}

/**
 * Creates a limiter that gives each free place to the waiting tenant with the fewest places, and takes turns among
 * equals.
 */
export function createFairPlaces({
  places,
  share = places,
  maxWaiting = Number.POSITIVE_INFINITY,
}: Options): FairPlaces {
  const held = new Map<string, number>()
  /** The waiting requests by tenant, in the order in which the tenants are served. */
  const lines = new Map<string, Waiting[]>()
  let used = 0

  const take = (tenant: string): (() => void) => {
    used++
    held.set(tenant, (held.get(tenant) ?? 0) + 1)
    let left = false
    return () => {
      if (left) return
      left = true
      used--
      const rest = (held.get(tenant) ?? 1) - 1
      if (rest > 0) held.set(tenant, rest)
      else held.delete(tenant)
      serve()
    }
  }
  const next = (): string | null => {
    let best: string | null = null
    let fewest = share
    for (const [tenant, [first]] of lines) {
      const has = held.get(tenant) ?? 0
      if (has >= fewest || has >= (first?.most ?? share)) continue
      best = tenant
      fewest = has
    }
    return best
  }
  const serve = (): void => {
    while (used < places) {
      const tenant = next()
      if (tenant === null) return
      const line = lines.get(tenant) ?? []
      const first = line.shift()
      first?.signal?.removeEventListener('abort', first.abandon)
      // Move the tenant to the end of the round.
      lines.delete(tenant)
      if (line.length > 0) lines.set(tenant, line)
      first?.resolve(take(tenant))
    }
  }

  return {
    async enter(tenant, signal, most = share) {
      signal?.throwIfAborted()
      if (used < places && (held.get(tenant) ?? 0) < Math.min(share, most)) return take(tenant)
      const line = lines.get(tenant) ?? []
      if (line.length >= maxWaiting) throw new PlacesFull('Too many requests are already waiting.')
      return new Promise((resolve, reject) => {
        const abandon = (): void => {
          line.splice(line.indexOf(waiting), 1)
          if (line.length === 0) lines.delete(tenant)
          reject(signal?.reason)
        }
        const waiting: Waiting = { resolve, signal, abandon, most }
        line.push(waiting)
        lines.set(tenant, line)
        signal?.addEventListener('abort', abandon, { once: true })
      })
    },
  }
}

/** Shares the main thread among bulk work; see `createMainThreadScheduler`. */
export type MainThreadScheduler = {
  /**
   * Resolves when it is the tenant's turn to do work of this weight. Returns undefined when the work may start at
   * once.
   */
  take(tenant: string, weight: number): Promise<void> | undefined
}

/** The weight of work done before the event loop serves the network again: less than a millisecond's worth. */
const WEIGHT_AT_ONCE = 32

type WaitingWork = { weight: number; resolve: () => void }

/** Runs bulk work in small portions, serves the network in between, and takes turns among tenants. */
export function createMainThreadScheduler(atOnce = WEIGHT_AT_ONCE): MainThreadScheduler {
  const lines = new Map<string, WaitingWork[]>()
  let spent = 0
  let scheduled = false

  const schedule = (): void => {
    if (scheduled) return
    scheduled = true
    setImmediate(serve)
  }
  const serve = (): void => {
    scheduled = false
    spent = 0
    for (const [tenant, line] of lines) {
      if (spent >= atOnce) break
      const first = line.shift()
      // Move the tenant to the end of the round.
      lines.delete(tenant)
      if (line.length > 0) lines.set(tenant, line)
      spent += first?.weight ?? 0
      first?.resolve()
    }
    if (spent > 0) schedule()
  }
  return {
    take(tenant, weight) {
      schedule()
      if (spent < atOnce && lines.size === 0) {
        spent += weight
        return undefined
      }
      return new Promise((resolve) => {
        const line = lines.get(tenant)
        if (line) line.push({ weight, resolve })
        else lines.set(tenant, [{ weight, resolve }])
      })
    },
  }
}
