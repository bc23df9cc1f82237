/** Turns on the serving thread for work that comes in bulk; see `createTurns`. */
export type Turns = {
  /** Resolves when it is the holder's turn to do work of this weight; undefined: now. */
  take(holder: string, weight: number): Promise<void> | undefined
}

/** So much work is done between two looks at the network: less than a millisecond of it. */
const WEIGHT_AT_ONCE = 32

type Waiting = { weight: number; resolve: () => void }

/**
 * Lets bulky work through in small portions, with the network served in between, and the holders in turn: whoever brings
 * much waits for itself, and everybody else hardly.
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
      // To the end of the round.
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
