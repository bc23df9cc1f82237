/** Shares the main thread among bulk work; see `createTurns`. */
export type Turns = {
  /**
   * Resolves when it is the holder's turn to do work of this weight. Returns undefined when the work may start at
   * once.
   */
  take(holder: string, weight: number): Promise<void> | undefined
}

/** The weight of work done before the event loop serves the network again: less than a millisecond's worth. */
const WEIGHT_AT_ONCE = 32

type Waiting = { weight: number; resolve: () => void }

/**
 * Runs bulk work in small portions, serves the network in between, and takes turns among holders. A holder with much
 * work delays itself and hardly anybody else.
 */
export function createTurns(atOnce = WEIGHT_AT_ONCE): Turns {
  const lines = new Map<string, Waiting[]>()
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
    for (const [holder, line] of lines) {
      if (spent >= atOnce) break
      const { weight, resolve } = line.shift() as Waiting
      // Move the holder to the end of the round.
      lines.delete(holder)
      if (line.length > 0) lines.set(holder, line)
      spent += weight
      resolve()
    }
    if (spent > 0) schedule()
  }
  return {
    take(holder, weight) {
      schedule()
      if (lines.size === 0 && spent < atOnce) {
        spent += weight
        return undefined
      }
      return new Promise((resolve) => {
        const line = lines.get(holder)
        if (line) line.push({ weight, resolve })
        else lines.set(holder, [{ weight, resolve }])
      })
    },
  }
}
