/** What this process did that may have left work for others, such as a request or a job. */
type Activity = {
  note(): void
  onNote(listener: () => void): () => void
  /** Returns when the newest was, in milliseconds of the monotonic clock. */
  lastAt(): number
}

export function createActivity(): Activity {
  const listeners = new Set<() => void>()
  let last = 0
  return {
    note() {
      last = performance.now()
      for (const listener of listeners) listener()
    },
    onNote(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    lastAt: () => last,
  }
}
