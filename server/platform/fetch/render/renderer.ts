import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import { createFairPlaces } from '../../concurrency/fair-shares.ts'
import { FetchFailure } from '../failures/fetch-failure.ts'
import { askThread, type RenderSettings, startThread, type UnbuiltPage } from './render-thread.ts'

export type Renderer = {
  /**
   * Returns the HTML that a page's scripts produce. Throws FetchFailure `timeout`, `too_large`, `browser_failed`,
   * `aborted`; the time limit does not include the wait in the queue. Owners take turns.
   */
  render(page: UnbuiltPage, options: { owner: string; signal?: AbortSignal }): Promise<string>
  /** Ends the browsers; what is running or waiting fails with `aborted`. */
  close(): Promise<void>
}

type Settings = Pick<RenderSettings, 'browserPath' | 'allowedPrivateHosts' | 'userAgent'> & {
  onError: (error: unknown) => void
  timeoutMs?: number
  patienceMs?: number
  /** A browser with nothing to do for this long is ended. */
  idleMs?: number
  /** The number of pages rendered at once, each in its own browser. */
  browsers?: number
}

/** Each retry waits 100 ms longer than the one before, which leaves a slow browser 21 s to exit. */
const REMOVE_TRIES = 20
/** The number of checks without the folder after which it counts as removed. */
const QUIET_LOOKS = 10
const LOOK_EVERY_MS = 100

/** The number of pages after which a browser is replaced, because browsers use more memory with every page. */
const PAGES_A_BROWSER = 100

/** Runs the scripts of pages in browsers that reach the network only through the guarded fetcher. */
export function createRenderer(settings: Settings): Renderer {
  const { browsers = 2 } = settings
  const closing = new AbortController()
  const seats = Array.from({ length: browsers }, () => createSeat(settings))
  const free = [...seats]
  // Rendering a page cannot be preempted, so one browser is always left to other owners.
  const places = createFairPlaces({ places: browsers, share: Math.max(1, browsers - 1) })

  return {
    async render(page, { owner, signal }) {
      const either = signal ? AbortSignal.any([signal, closing.signal]) : closing.signal
      const leave = await places.enter(owner, either).catch(() => {
        throw new FetchFailure('aborted', 'Reading this page was cancelled.')
      })
      // The thread that was used last has a running browser.
      const seat = free.pop() as Seat
      try {
        return await seat.render(page, either)
      } catch (error) {
        if (error instanceof FetchFailure && error.code === 'browser_failed') settings.onError(error)
        throw error
      } finally {
        free.push(seat)
        leave()
      }
    },
    async close() {
      closing.abort()
      await Promise.all(seats.map((seat) => seat.close()))
      await Promise.all(seats.map((seat) => seat.cleaned()))
    },
  }
}

type Seat = {
  render(page: UnbuiltPage, signal: AbortSignal): Promise<string>
  close(): Promise<void>
  /** Resolves when nothing is left of the browsers that were closed. */
  cleaned(): Promise<void>
}

/** Creates a thread with one browser, which is started when needed. */
function createSeat({
  onError,
  timeoutMs = 15_000,
  patienceMs = 5_000,
  idleMs = 60_000,
  ...settings
}: Settings): Seat {
  let thread: { worker: Worker; folder: string } | null = null
  let pages = 0
  let idleTimer: NodeJS.Timeout | undefined
  const cleaning = new Set<Promise<void>>()

  const close = async (): Promise<void> => {
    clearTimeout(idleTimer)
    const ending = thread
    thread = null
    pages = 0
    if (!ending) return
    // Terminating the thread closes the browser's pipe, and the browser then exits.
    const ended = ending.worker.terminate()
    const cleaned: Promise<void> = ended
      .then(() => removeFolder(ending.folder))
      .catch(onError)
      .finally(() => cleaning.delete(cleaned))
    cleaning.add(cleaned)
    await ended
  }

  const currentWorker = async (): Promise<Worker> => {
    if (thread) return thread.worker
    const folder = await mkdtemp(join(tmpdir(), `parley-browser-${process.pid}-`))
    thread = { worker: startThread({ ...settings, timeoutMs, patienceMs, folder }), folder }
    return thread.worker
  }

  return {
    close,
    async cleaned() {
      await Promise.all(cleaning)
    },
    async render(page, signal) {
      clearTimeout(idleTimer)
      try {
        if (signal.aborted) throw new FetchFailure('aborted', 'Reading this page was cancelled.')
        const html = await askThread(await currentWorker(), page, timeoutMs, signal)
        pages += 1
        if (pages >= PAGES_A_BROWSER) await close()
        else idleTimer = setTimeout(() => void close(), idleMs).unref()
        return html
      } catch (error) {
        await close()
        throw error
      }
    },
  }
}

/** Removes the folder of a browser that is exiting. It may write to the folder, and create it again, until it has. */
async function removeFolder(folder: string): Promise<void> {
  for (let looks = 0; looks < QUIET_LOOKS; looks++) {
    if (existsSync(folder)) {
      await rm(folder, { recursive: true, force: true, maxRetries: REMOVE_TRIES })
      looks = 0
    }
    await wait(LOOK_EVERY_MS)
  }
}
