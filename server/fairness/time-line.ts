/** Who waits for something that is counted in time; see `createTimeLine`. */
export type TimeLine = {
  readonly size: number
  /** `go` is called when it is the holder's turn; answers how to leave the line. */
  wait(holder: string, go: () => void): () => void
  /** Takes the first of the holder out of the line who has had the least time; null when nobody may go. */
  next(mayGo: (holder: string) => boolean): { line: TimeLine; go: () => void } | null
  /** Whether so many of the holder's wait that others would be felt to wait. */
  isFlood(holder: string): boolean
  /** The holder has had so much time. */
  charge(holder: string, ms: number): void
}

/** Whoever has so many waiting pays for each turn as for so many: others are hardly held up by a flood. */
const FLOOD = 64
const PRICE_OF_FLOOD = 3
/** So many holders are remembered before those of whom nothing waits are forgotten. */
const MANY_HOLDERS = 1_000

/**
 * A line in which the holder goes first that has had the least time. Whoever comes new, or back, begins with what the
 * last one served had: nobody saves time up.
 */
export function createTimeLine(): TimeLine {
  const lines = new Map<string, (() => void)[]>()
  const had = new Map<string, number>()
  let size = 0
  /** What the holder had that was served last. */
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
    // Among equals it is the turn of the others.
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
