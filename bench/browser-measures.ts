import type { Browser, BrowserContext, Page } from 'playwright-core'

const SCROLLED_FRAMES = 180
/** The longest time to wait for something, in milliseconds. */
const MAX_MS = 30_000
/** When no script has been requested for this long, the page has all of them. */
const QUIET_MS = 300
const KB = 1_000

export type Session = Awaited<ReturnType<BrowserContext['storageState']>>
/** What a page loads with an empty cache: the bytes on the wire by type, those of each script, and the times. */
export type Visit = {
  bytes: Record<string, number>
  scripts: Map<string, number>
  shift: number
  paintMs: number
  readyMs: number
}

/** Runs before the scripts of a page: adds up its layout shifts. */
const WATCH = `{
  globalThis.shift = 0
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) globalThis.shift += value
  }).observe({ type: 'layout-shift', buffered: true })
}`

/** The policy of the pages does not allow code to be evaluated later, so one expression does everything at once. */
const PAINTED = `new Promise((done) => {
  const look = () => {
    const [paint] = performance.getEntriesByName('first-contentful-paint')
    if (paint) done(paint.startTime)
    else requestAnimationFrame(look)
  }
  look()
})`

export const navigation = (page: Page) => page.getByRole('navigation', { name: 'Workspace' })

/** Waits for the data of a page. The network is never idle on a page with a live stream. */
export const settled = (page: Page) =>
  page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' })

export async function newPage(browser: Browser, session?: Session): Promise<Page> {
  const context = await browser.newContext({
    ...(session === undefined ? {} : { storageState: session }),
    viewport: { width: 1440, height: 900 },
  })
  context.setDefaultTimeout(MAX_MS)
  return context.newPage()
}

/** Waits for a promise without a time limit of its own, and fails with its name when the time is up. */
export async function within<T>(what: string, work: Promise<T>): Promise<T> {
  const { promise: never, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`${what}: not within ${MAX_MS / 1_000} s`)), MAX_MS)
  try {
    return await Promise.race([work, never])
  } finally {
    clearTimeout(timer)
  }
}

/** Opens a page with an empty cache. */
export async function visit(browser: Browser, url: string, session: Session): Promise<Visit> {
  const page = await newPage(browser, session)
  try {
    return await measureLoad(page, url)
  } catch (error) {
    throw new Error(`${new URL(url).pathname} was not loaded`, { cause: error })
  } finally {
    await page.context().close()
  }
}

async function measureLoad(page: Page, url: string): Promise<Visit> {
  await page.addInitScript(WATCH)
  const wire = await watchWire(page)
  await page.goto(url)
  // The page for people who are not signed in has a heading as well.
  await navigation(page).waitFor()
  await page.locator('main h1').first().waitFor()
  const readyMs = await page.evaluate<number>('performance.now()')
  await settled(page)
  const worker = await page.locator('meta[name=parley-desk-worker]').getAttribute('content')
  const { bytes, scripts } = await wire.scriptsLoaded(worker)
  const paintMs = await within('the first paint', page.evaluate<number>(PAINTED))
  const shift = await page.evaluate<number>('shift')
  return { bytes, scripts, shift, paintMs, readyMs }
}

/** Counts what the browser receives, with headers and as it is compressed on the way. */
async function watchWire(page: Page) {
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('Network.enable')
  const asked = new Map<string, { type: string; name: string }>()
  const bytes: Record<string, number> = {}
  const scripts = new Map<string, number>()
  /** The scripts that are being loaded, by request. */
  const coming = new Map<string, string>()
  let last = Date.now()
  cdp.on('Network.requestWillBeSent', ({ requestId, type = 'Other', request }) => {
    const name = new URL(request.url).pathname
    asked.set(requestId, { type, name })
    if (type === 'Script') coming.set(requestId, name)
  })
  const ended = (requestId: string, length: number): void => {
    const one = asked.get(requestId)
    if (!one) return
    bytes[one.type] = (bytes[one.type] ?? 0) + length
    if (one.type !== 'Script') return
    scripts.set(one.name, (scripts.get(one.name) ?? 0) + length)
    coming.delete(requestId)
    last = Date.now()
  }
  cdp.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => ended(requestId, encodedDataLength))
  cdp.on('Network.loadingFailed', ({ requestId }) => ended(requestId, 0))
  return {
    /**
     * Waits until no script has been loaded for a moment. A page is not notified when the script of a shared worker
     * has been loaded.
     */
    async scriptsLoaded(worker: string | null) {
      const end = Date.now() + MAX_MS
      const missing = () => [...coming.values()].filter((name) => name !== worker)
      while (missing().length > 0 || Date.now() - last < QUIET_MS) {
        if (Date.now() > end) throw new Error(`Scripts never came: ${missing().join(', ')}`)
        await page.waitForTimeout(50)
      }
      return { bytes, scripts }
    },
  }
}

/**
 * Clicks an element and returns the milliseconds until the frame in which another one is shown. Both are expressions.
 */
export const pressUntil = (page: Page, press: string, shown: string): Promise<number> =>
  page.evaluate<number>(`new Promise((done, fail) => {
    let begun = performance.now()
    const isShown = () => ${shown}
    const look = () => {
      if (isShown()) requestAnimationFrame(() => done(performance.now() - begun))
      else if (performance.now() - begun > ${MAX_MS}) fail(new Error(${JSON.stringify(`never: ${shown}`)}))
      else requestAnimationFrame(look)
    }
    ${press}
    look()
  })`)

/** The rows of the list of conversations, and the first of them. */
export const FIRST_ROW = `document.querySelector('main ul[style] li button')`

/** From the click on the link to the frame that shows the first row, in milliseconds. */
export async function openList(page: Page, from: string): Promise<number> {
  await page.goto(from)
  await navigation(page).getByRole('link', { name: 'Conversations' }).waitFor()
  await settled(page)
  return pressUntil(page, `document.querySelector('nav a[href$="/conversations"]').click()`, FIRST_ROW)
}

/** Scrolls the open list and returns the times between frames, in milliseconds. */
export const scrollList = (page: Page): Promise<number[]> =>
  within(
    'the frames of the list',
    page.evaluate<number[]>(`new Promise((done) => {
    const list = document.querySelector('main ul[style]').parentElement
    const frames = []
    let last = performance.now()
    const step = (now) => {
      frames.push(now - last)
      last = now
      list.scrollTop += 40
      if (frames.length < ${SCROLLED_FRAMES}) requestAnimationFrame(step)
      else done(frames.slice(1))
    }
    requestAnimationFrame(step)
  })`),
  )

/** Chooses a filter and returns the milliseconds until the list has another first row. */
export async function filterList(page: Page, label: string, value: string): Promise<number> {
  const before = JSON.stringify(await page.evaluate<string>(`${FIRST_ROW}.textContent`))
  const shown = pressUntil(
    page,
    `addEventListener('change', () => { begun = performance.now() }, { once: true, capture: true })`,
    `(${FIRST_ROW}?.textContent ?? ${before}) !== ${before}`,
  )
  await page.getByLabel(label, { exact: true }).selectOption(value)
  return shown
}

/** Returns the size of the page's heap after a garbage collection. */
export async function memoryOf(page: Page): Promise<{ heapMB: number; nodes: number }> {
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('HeapProfiler.enable')
  await cdp.send('HeapProfiler.collectGarbage')
  const { usedSize } = await cdp.send('Runtime.getHeapUsage')
  const { nodes } = await cdp.send('Memory.getDOMCounters')
  return { heapMB: usedSize / 1e6, nodes }
}

export const median = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

/** The size of the scripts without those that are `known`, in KB. */
export const sizeOf = (scripts: Map<string, number>, known = new Map<string, number>()): number =>
  [...scripts].reduce((sum, [name, size]) => sum + (known.has(name) ? 0 : size), 0) / KB
