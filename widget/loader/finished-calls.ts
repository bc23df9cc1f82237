/** The number of results kept. A visit rarely has more that are still requested. */
const MAX_COUNT = 20

export type FinishedCalls = {
  /** Returns the result of a call, or null if the call has not finished during this visit to the site. */
  find(id: string): { output: unknown } | null
  add(id: string, output: unknown): void
}

/**
 * Keeps the results of the page's tools for the duration of the visit. A tool that navigates to another page breaks
 * the connection on which its result is sent, and would otherwise run again on every page it leads to.
 */
export function createFinishedCalls(agentId: string): FinishedCalls {
  const name = `parley-calls:${agentId}`
  let calls: { id: string; output: unknown }[] = []
  const read = (): typeof calls => {
    try {
      const kept: unknown = JSON.parse(sessionStorage.getItem(name) ?? 'null')
      if (Array.isArray(kept)) calls = kept
    } catch {
      // The last known results are still in memory.
    }
    return calls
  }
  return {
    find: (id) => read().find((one) => one.id === id) ?? null,
    add(id, output) {
      calls = [...read(), { id, output }].slice(-MAX_COUNT)
      // The newest result is the one that will be requested, so older ones are dropped to make room.
      for (let kept = calls; kept.length > 0; kept = kept.slice(1)) {
        try {
          return sessionStorage.setItem(name, JSON.stringify(kept))
        } catch {
          // The results exceed the quota, or storage is not available at all.
        }
      }
    },
  }
}
