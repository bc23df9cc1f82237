import { setTimeout as wait } from 'node:timers/promises'
import type { Browser, Page } from 'playwright-core'
import { FetchFailure } from '../failures/fetch-failure.ts'
import { createGuardedFetcher } from '../guard/guarded-fetcher.ts'
import { isPrivateHostAllowed, parsePrivateHosts } from '../guard/private-hosts.ts'
import { createPageRequests, type PageRequests } from './page-requests.ts'
import { readDom } from './read-dom.ts'
import type { RenderSettings, UnbuiltPage } from './render-thread.ts'
import { hasMuchText, shownCharacters } from './written-by-script.ts'

const MAX_CHARACTERS = 5 * 1_048_576
/** The share of the total time for the scripts; the rest is for reading the result. */
const FOR_SCRIPTS = 0.8
/**
 * A page is complete when it has sent no requests for this long and has more text than before; without more text, it
 * gets more time: `patienceMs`.
 */
const QUIET_MS = 500
const POLL_MS = 50
const VIEW = { width: 1_280, height: 3_000 }

/** Runs a page's scripts and returns the resulting HTML. Throws FetchFailure. */
export async function renderPage(
  browser: Browser,
  { url, html }: UnbuiltPage,
  { allowedPrivateHosts, userAgent, timeoutMs, patienceMs }: RenderSettings,
): Promise<string> {
  const begun = performance.now()
  const left = (): number => Math.max(1, timeoutMs - (performance.now() - begun))
  const address = new URL(url)
  const fetcher = createGuardedFetcher({
    allowedPrivateHosts: ownHost(address, allowedPrivateHosts),
    userAgent,
  })
  const ending = new AbortController()
  const requests = createPageRequests({ url: address, html }, fetcher, ending.signal)
  try {
    const page = await openPage(browser, requests)
    const crashed = new Promise<never>((_, reject) => page.on('crash', () => reject(crash())))
    crashed.catch(() => {})
    const limits = { timeoutMs: timeoutMs * FOR_SCRIPTS, patienceMs }
    const built = build(page, requests, { url: address.href, html }, limits)
    built.catch(() => {})
    const late = wait(left(), null, { signal: ending.signal }).then(() => {
      throw new FetchFailure('timeout', `The scripts of the page did not end within ${timeoutMs / 1_000} s.`)
    })
    late.catch(() => {})
    const result = await Promise.race([built, crashed, late])
    if (result === null)
      throw new FetchFailure(
        'too_large',
        'The scripts of the page generate more than the 5 MB that are accepted.',
      )
    return result
  } finally {
    ending.abort()
    await fetcher.close()
  }
}

/** A page gets nothing from earlier pages and leaves nothing for later ones. */
async function openPage(browser: Browser, requests: PageRequests): Promise<Page> {
  const context = await browser.newContext({
    acceptDownloads: false,
    serviceWorkers: 'block',
    viewport: VIEW,
    permissions: [],
  })
  await context.route('**/*', (route) => requests.handle(route))
  await context.routeWebSocket(/.*/, (socket) => void socket.close())
  const page = await context.newPage()
  context.on('page', (other) => void other.close().catch(() => {}))
  return page
}

async function build(
  page: Page,
  requests: PageRequests,
  { url, html: asSent }: UnbuiltPage,
  { timeoutMs, patienceMs }: Pick<RenderSettings, 'timeoutMs' | 'patienceMs'>,
): Promise<string | null> {
  const until = performance.now() + timeoutMs
  const patient = performance.now() + Math.min(patienceMs, timeoutMs)
  const atFirst = shownCharacters(asSent)
  // Navigation is refused, so the load event never fires for a page whose scripts navigate away. The page's requests
  // show when it is complete.
  await page.goto(url, { timeout: timeoutMs, waitUntil: 'commit' }).catch(() => {})
  for (let before = ''; ; ) {
    while (requests.quietMs() < QUIET_MS && performance.now() < until) await wait(POLL_MS)
    const html = await readDom(page, MAX_CHARACTERS)
    if (html === null || hasMuchText(html) || performance.now() >= patient) return html
    if (html === before && shownCharacters(html) > atFirst) return html
    before = html
    await wait(QUIET_MS)
  }
}

/**
 * A page of the internal network may send requests to its own host; no other page may send requests to an internal
 * host.
 */
function ownHost(url: URL, allowed: readonly string[]): string[] {
  if (!isPrivateHostAllowed(parsePrivateHosts(allowed), url)) return []
  return [`${url.hostname.replace(/\.$/, '')}:${url.port || (url.protocol === 'https:' ? 443 : 80)}`]
}

const crash = (): FetchFailure =>
  new FetchFailure('browser_failed', 'The browser crashed on the scripts of this page.')
