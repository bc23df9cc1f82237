import { setTimeout as wait } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import type { Browser } from 'playwright-core'
import { FetchFailure } from '../failures/fetch-failure.ts'
import { launchBrowser } from './launch-browser.ts'
import { renderPage } from './render-page.ts'
import type { RenderAnswer, RenderSettings, UnbuiltPage } from './render-thread.ts'

const CLOSE_MS = 2_000
const MAX_DETAIL_LENGTH = 4_000

const settings: RenderSettings = workerData
let browser: Browser | null = null

// Pages are processed one at a time: the other side sends the next one after the response.
parentPort?.on('message', async (page: UnbuiltPage) => {
  parentPort?.postMessage(await answer(page).catch(failureOf))
})

async function answer(page: UnbuiltPage): Promise<RenderAnswer> {
  if (!browser?.isConnected()) browser = await launch()
  parentPort?.postMessage({ begun: true } satisfies RenderAnswer)
  const html = await renderPage(browser, page, settings)
  const closing = Promise.all(browser.contexts().map((context) => context.close()))
  const isClosed = await Promise.race([closing.then(() => true), wait(CLOSE_MS, false)])
  // A page that cannot be closed keeps its browser busy, so the next page gets another browser.
  if (!isClosed) {
    void browser.close().catch(() => {})
    browser = null
  }
  return { html }
}

async function launch(): Promise<Browser> {
  try {
    return await launchBrowser(settings.browserPath, settings.folder)
  } catch (error) {
    const sentence =
      'The browser that renders pages could not be started. Ask your operator to look at the log.'
    throw new FetchFailure('browser_failed', sentence, error)
  }
}

function failureOf(error: unknown): RenderAnswer {
  const failure =
    error instanceof FetchFailure
      ? error
      : new FetchFailure('browser_failed', 'The browser crashed on the scripts of this page.', error)
  const detail = String(failure.cause ?? failure.message).slice(0, MAX_DETAIL_LENGTH)
  return { failure: { code: failure.code, message: failure.message, detail } }
}
