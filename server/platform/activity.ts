/**
 * Notifies listeners that this process did something that may have left work for others, such as a request or a job.
 */
type Activity = { note(): void; onNote(listener: () => void): () => void }

export function createActivity(): Activity {
  const listeners = new Set<() => void>()
  return {
    note() {
      for (const listener of listeners) listener()
    },
    onNote(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
