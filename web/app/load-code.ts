import { createStore } from '../ui/store.ts'
import { base } from './base.ts'

const PAUSE_MS = 2_000

const waiting = createStore(0)

/** Whether the code of a page waits for the service to be reachable. */
export const useIsUnreachable = (): boolean => waiting.use() > 0

/**
 * Loads the code of a page, and waits until the service can be reached. Throws when the code is gone, for example after
 * an upgrade; the router then loads the whole page again, which would fail without a connection.
 */
export async function loadCode<M>(load: () => Promise<M>): Promise<M> {
  try {
    return await load()
  } catch (error) {
    if (await isReachable()) throw error
  }
  waiting.set(waiting.get() + 1)
  try {
    do await pause()
    while (!(await isReachable()))
    return await load()
  } finally {
    waiting.set(waiting.get() - 1)
  }
}

const isReachable = (): Promise<boolean> =>
  fetch(`${base}/health`, { method: 'HEAD', cache: 'no-store' }).then(
    () => true,
    () => false,
  )

/** Waits for a moment, or until the browser has a network again. */
function pause(): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      removeEventListener('online', end)
      resolve()
    }
    const timer = setTimeout(end, PAUSE_MS)
    addEventListener('online', end)
  })
}
