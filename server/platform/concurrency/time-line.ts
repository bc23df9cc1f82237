/** A queue for a resource whose use is measured in time; see `createTimeLine`. */
type TimeLine = {
  readonly size: number
  /**
   * Queues a request of the holder and calls `go` when it is served. Returns a function that removes the request from
   * the queue.
   */
  wait(holder: string, go: () => void): () => void
  /**
   * Removes and returns the first request of the holder that has used the least time among those for which `mayGo` is
   * true; null when there is none.
   */
  next(mayGo: (holder: string) => boolean): { line: TimeLine; go: () => void } | null
  /** Returns whether the holder has so many requests waiting that they would noticeably delay other holders. */
  isFlood(holder: string): boolean
  /** Adds to the time that the holder has used. */
  charge(holder: string, ms: number): void
}

/**
 * A holder with at least this many waiting requests is charged PRICE_OF_FLOOD times the time it uses, so that a flood
 * delays other holders only a little.
 */
const FLOOD = 64
const PRICE_OF_FLOOD = 12
/** The number of holders to remember before the ones with nothing waiting are dropped. */
const MANY_HOLDERS = 1_000

/**
 * Creates a queue in which the holder that has used the least time goes first. A holder that is new, or comes back,
 * starts with the time of the one served last, so nobody can save up time.
 */
export function createTimeLine(): TimeLine {
  const lines = new Map<string, (() => void)[]>()
  const had = new Map<string, number>()
  let size = 0
  /** The time that the holder served last had used. */
  let mark = 0
  let forgetAt = MANY_HOLDERS

  const forgetIdle = (): void => {
    for (const [holder, ms] of had) if (ms <= mark && !lines.has(holder)) had.delete(holder)
    forgetAt = Math.max(MANY_HOLDERS, 2 * had.size)
  }
  const shift = (holder: string): (() => void) => {
    const line = lines.get(holder) as (() => void)[]
    const go = line.shift() as () => void
    size--
    // Move the holder to the end, so that holders with the same time take turns.
    lines.delete(holder)
    if (line.length > 0) lines.set(holder, line)
    return go
  }
  const self: TimeLine = {
    get size() {
      return size
    },
    wait(holder, go) {
      const line = lines.get(holder)
      size++
      if (line) line.push(go)
      else {
        lines.set(holder, [go])
        had.set(holder, Math.max(had.get(holder) ?? 0, mark))
      }
      return () => {
        const waiting = lines.get(holder)
        const at = waiting?.indexOf(go) ?? -1
        if (!waiting || at === -1) return
        waiting.splice(at, 1)
        size--
        if (waiting.length === 0) lines.delete(holder)
      }
    },
    next(mayGo) {
      let best: string | null = null
      let least = Number.POSITIVE_INFINITY
      for (const holder of lines.keys()) {
        const ms = had.get(holder) ?? 0
        if (ms >= least || !mayGo(holder)) continue
        best = holder
        least = ms
      }
      if (best === null) return null
      mark = Math.max(mark, least)
      return { line: self, go: shift(best) }
    },
    isFlood: (holder) => (lines.get(holder)?.length ?? 0) >= FLOOD,
    charge(holder, ms) {
      const price = self.isFlood(holder) ? PRICE_OF_FLOOD : 1
      had.set(holder, (had.get(holder) ?? 0) + ms * price)
      if (had.size > forgetAt) forgetIdle()
    },
  }
  return self
}
