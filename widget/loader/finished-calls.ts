/** A visit seldom has more of them that are still asked for. */
const MOST = 20

export type FinishedCalls = {
  /** null: it has not been finished in this visit of the site. */
  find(id: string): { output: unknown } | null
  add(id: string, output: unknown): void
}

/**
 * What the page's own tools gave, for the time of the visit: a tool that leads to another page ends the connection by
 * which its result is sent, and would run again on every page it leads to.
 */
export function createFinishedCalls(agentId: string): FinishedCalls {
  const name = `parley-calls:${agentId}`
  let calls: { id: string; output: unknown }[] = []
  const read = (): typeof calls => {
    try {
      const kept: unknown = JSON.parse(sessionStorage.getItem(name) ?? 'null')
      if (Array.isArray(kept)) calls = kept
    } catch {
      // What was kept last is still in memory.
    }
    return calls
  }
  return {
    find: (id) => read().find((one) => one.id === id) ?? null,
    add(id, output) {
      calls = [...read(), { id, output }].slice(-MOST)
      // The newest is the one that will be asked for: the others make room for it.
      for (let kept = calls; kept.length > 0; kept = kept.slice(1)) {
        try {
          return sessionStorage.setItem(name, JSON.stringify(kept))
        } catch {
          // Too much, or nothing can be kept at all.
        }
      }
    },
  }
}
