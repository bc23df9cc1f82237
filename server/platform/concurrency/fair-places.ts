/** Thrown when a holder already has too many requests waiting. */
export class PlacesFull extends Error {
  override name = 'PlacesFull'
}

/** Limits how much work runs at once, fairly among the accounts that ask for it; see `createFairPlaces`. */
export type FairPlaces = {
  /**
   * Waits for a place and resolves to a function that gives it back. `most` limits the places of this holder further,
   * below the share that applies to every holder. Throws PlacesFull, and the signal's reason when it is aborted.
   */
  enter(holder: string, signal?: AbortSignal, most?: number): Promise<() => void>
}

type Options = {
  places: number
  /** The most places that one holder gets even when nobody else waits, because running work cannot be preempted. */
  share?: number
  /** The most requests of one holder that may wait. */
  mostWaiting?: number
}

type Waiting = {
  resolve: (leave: () => void) => void
  signal: AbortSignal | undefined
  abandon: () => void
  most: number
}

/**
 * Creates a limiter that gives each free place to the waiting holder with the fewest places, and takes turns among
 * equals.
 */
export function createFairPlaces({
  places,
  share = places,
  mostWaiting = Number.POSITIVE_INFINITY,
}: Options): FairPlaces {
  const held = new Map<string, number>()
  /** The waiting requests by holder, in the order in which the holders are served. */
  const lines = new Map<string, Waiting[]>()
  let used = 0

  const take = (holder: string): (() => void) => {
    used++
    held.set(holder, (held.get(holder) ?? 0) + 1)
    let left = false
    return () => {
      if (left) return
      left = true
      used--
      const rest = (held.get(holder) ?? 1) - 1
      if (rest > 0) held.set(holder, rest)
      else held.delete(holder)
      serve()
    }
  }
  const next = (): string | null => {
    let best: string | null = null
    let fewest = share
    for (const [holder, [first]] of lines) {
      const has = held.get(holder) ?? 0
      if (has >= fewest || has >= (first?.most ?? share)) continue
      best = holder
      fewest = has
    }
    return best
  }
  const serve = (): void => {
    while (used < places) {
      const holder = next()
      if (holder === null) return
      const line = lines.get(holder) as Waiting[]
      const { resolve, signal, abandon } = line.shift() as Waiting
      signal?.removeEventListener('abort', abandon)
      // Move the holder to the end of the round.
      lines.delete(holder)
      if (line.length > 0) lines.set(holder, line)
      resolve(take(holder))
    }
  }

  return {
    async enter(holder, signal, most = share) {
      signal?.throwIfAborted()
      if (used < places && (held.get(holder) ?? 0) < Math.min(share, most)) return take(holder)
      const line = lines.get(holder) ?? []
      if (line.length >= mostWaiting) throw new PlacesFull('Too many requests are already waiting.')
      return new Promise((resolve, reject) => {
        const abandon = (): void => {
          line.splice(line.indexOf(waiting), 1)
          if (line.length === 0) lines.delete(holder)
          reject(signal?.reason)
        }
        const waiting: Waiting = { resolve, signal, abandon, most }
        line.push(waiting)
        lines.set(holder, line)
        signal?.addEventListener('abort', abandon, { once: true })
      })
    },
  }
}
