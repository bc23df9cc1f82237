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

type Waiting = { weight: number; resolve: () => void }

/** Runs bulk work in small portions, serves the network in between, and takes turns among tenants. */
export function createMainThreadScheduler(atOnce = WEIGHT_AT_ONCE): MainThreadScheduler {
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
