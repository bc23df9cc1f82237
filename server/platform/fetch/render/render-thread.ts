import { Worker } from 'node:worker_threads'
import { FetchFailure, type FetchFailureCode } from '../failures/fetch-failure.ts'

export type RenderSettings = {
  /** The path of Chromium or a browser based on it. */
  browserPath: string
  /** The allowed hosts, as for the guarded fetcher; a page only reaches its own host among them. */
  allowedPrivateHosts: readonly string[]
  userAgent: string
  /** The time limit for one page, without the start of the browser. */
  timeoutMs: number
  /** How long a page is given to show more text than it was sent with. */
  patienceMs: number
  /** The folder for everything that the browser writes; its creator removes it. */
  folder: string
}

/** A page as it was received, before its scripts have run. */
export type UnbuiltPage = { url: string; html: string }

/** `begun` means that the browser has started. `detail` is only for the operator's log. */
export type RenderAnswer =
  | { begun: true }
  | { html: string }
  | { failure: { code: FetchFailureCode; message: string; detail: string } }

const START_MS = 30_000
const SPARE_MS = 3_000

/**
 * A thread that drives one browser for askThread, because the main thread should not parse everything that a page
 * makes its browser report.
 */
export function startThread(settings: RenderSettings): Worker {
  const worker = new Worker(new URL('./render-thread-main.ts', import.meta.url), {
    name: 'render',
    env: { TMPDIR: settings.folder },
    workerData: settings,
    resourceLimits: { maxOldGenerationSizeMb: 384 },
    stdout: true,
    stderr: true,
  })
  worker.on('error', () => {})
  worker.stdout.resume()
  worker.stderr.resume()
  worker.unref()
  return worker
}

/**
 * Sends one page and waits for its HTML. Rejects with FetchFailure, after which the thread cannot be used any more.
 */
export function askThread(
  worker: Worker,
  page: UnbuiltPage,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<string> {
  return new Promise<string>((resolve, reject) => {
    const fail = (code: FetchFailureCode, message: string, cause?: unknown) =>
      settle(() => reject(new FetchFailure(code, message, cause)))
    const late = () => fail('timeout', `The scripts of the page did not end within ${timeoutMs / 1_000} s.`)
    const unstarted = () => fail('browser_failed', 'The browser that renders pages did not start.')
    let timer = setTimeout(unstarted, START_MS)
    const listeners = {
      message: (answer: RenderAnswer) => {
        if ('begun' in answer) {
          clearTimeout(timer)
          timer = setTimeout(late, timeoutMs + SPARE_MS)
        } else if ('html' in answer) settle(() => resolve(answer.html))
        else fail(answer.failure.code, answer.failure.message, new Error(answer.failure.detail))
      },
      error: (error: Error) => fail('browser_failed', brokenDown, error),
      exit: () => fail('browser_failed', brokenDown),
    }
    const onAbort = () => fail('aborted', 'Reading this page was cancelled.')
    const settle = (finish: () => void) => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      for (const [name, listener] of Object.entries(listeners)) worker.off(name, listener)
      worker.unref()
      finish()
    }
    for (const [name, listener] of Object.entries(listeners)) worker.on(name, listener)
    signal.addEventListener('abort', onAbort)
    if (signal.aborted) return onAbort()
    worker.ref()
    worker.postMessage(page)
  })
}

const brokenDown = 'The browser crashed on the scripts of this page.'
