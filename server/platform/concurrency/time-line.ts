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
  /** Adds to the time that the tenant has used. */
  charge(tenant: string, ms: number): void
}

/** The number of tenants to remember before the ones with nothing waiting are dropped. */
const MANY_HOLDERS = 1_000

/**
 * Creates a queue in which the tenant that has used the least time goes first. A tenant that is new, or comes back,
 * starts with the time of the one served last, so nobody can save up time.
 */
export function createTimeLine(): TimeLine {
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
