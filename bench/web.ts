import { cpus } from 'node:os'
import { gzipSync } from 'node:zlib'
import { type Browser, chromium, type Page } from 'playwright-core'
import { createLink, linkTo } from '../server/accounts/links/links.ts'
import { openEmbedded, openPostgres } from '../server/db/database.ts'
import { findBrowser } from '../test/find-browser.ts'
import { addManyConversations } from './many-conversations.ts'
import { prepare, start, stop } from './service.ts'

const CONVERSATIONS = 100_000
const TIMES = 7
const SCROLLED_FRAMES = 180
/** A frame of a screen with 60 a second, with some tolerance. */
const FRAME_MS = 1_000 / 60
const DROPPED_MS = 1.5 * FRAME_MS
const KB = 1_000

type Budget = { what: string; measured: number; unit: string; budget: number }
type Session = Awaited<ReturnType<import('playwright-core').BrowserContext['storageState']>>
type Visit = { scripts: Map<string, number>; shift: number; paintMs: number; readyMs: number }

/** Runs before the scripts of a page and adds up its layout shifts. */
const WATCH = `{
  globalThis.shift = 0
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) globalThis.shift += value
  }).observe({ type: 'layout-shift', buffered: true })
}`

const workspace = (page: Page) => page.getByRole('navigation', { name: 'Workspace' })

/** Waits for the data of a page. The network is never idle on pages with live updates. */
const settled = (page: Page) =>
  page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' })

/** Opens a page with an empty cache. */
async function visit(browser: Browser, url: string, session: Session): Promise<Visit> {
  const context = await browser.newContext({ storageState: session, viewport: { width: 1440, height: 900 } })
  const page = await context.newPage()
  page.setDefaultTimeout(120_000)
  await page.addInitScript(WATCH)
  const scripts = new Map<string, number>()
  const reading: Promise<void>[] = []
  page.on('response', (response) => {
    const { pathname } = new URL(response.url())
    if (!pathname.endsWith('.js')) return
    reading.push(response.body().then((body) => void scripts.set(pathname, gzipSync(body).length)))
  })
  await page.goto(url)
  // The page for people who are not signed in has a heading as well.
  await workspace(page).waitFor()
  await page.locator('main h1').first().waitFor()
  const readyMs = await page.evaluate<number>('performance.now()')
  await settled(page)
  await Promise.all(reading)
  await page.waitForFunction("performance.getEntriesByName('first-contentful-paint').length > 0")
  const paintMs = await page.evaluate<number>(
    "performance.getEntriesByName('first-contentful-paint')[0].startTime",
  )
  const shift = await page.evaluate<number>('shift')
  await context.close()
  return { scripts, shift, paintMs, readyMs }
}

/** Returns the milliseconds from the click on the link to the frame that shows the first row. */
async function openList(page: Page, path: string): Promise<number> {
  await page.goto(path)
  const link = workspace(page).getByRole('link', { name: 'Conversations' })
  await link.waitFor()
  await settled(page)
  return page.evaluate<number>(`new Promise((done) => {
    const begun = performance.now()
    const look = () => document.querySelector('main ul[style] li')
      ? requestAnimationFrame(() => done(performance.now() - begun))
      : requestAnimationFrame(look)
    document.querySelector('nav a[href$="/conversations"]').click()
    look()
  })`)
}

/** Scrolls the open list and returns the times between frames, in milliseconds. */
const scrollList = (page: Page): Promise<number[]> =>
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
  })`)

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
const sizeOf = (scripts: Map<string, number>, except = new Map<string, number>()): number =>
  [...scripts].reduce((sum, [name, size]) => sum + (except.has(name) ? 0 : size), 0) / KB

/** Measures the workspace in a browser beside an installation with many conversations. Returns a report. */
export async function webScenario(server: string | null): Promise<string> {
  const prepared = await prepare(server, 0, (db, { accountId, agentId }) =>
    addManyConversations(db, { accountId, agentId }, CONVERSATIONS),
  )
  const { DATABASE_URL, DATA_DIR = '' } = prepared.env
  const database = DATABASE_URL ? openPostgres(DATABASE_URL, 2) : await openEmbedded(DATA_DIR)
  const { token } = await createLink(database.db, {
    accountId: prepared.accountId,
    kind: 'set-up',
    createdBy: 'operator',
  })
  await database.close()
  const { url, child } = await start(['server/main.ts'], prepared.env)
  const browser = await chromium.launch({ executablePath: findBrowser(), args: ['--no-sandbox'] })
  try {
    const context = await browser.newContext()
    context.setDefaultTimeout(120_000)
    const owner = await context.newPage()
    await owner.goto(linkTo(url, 'set-up', token))
    await owner.getByLabel('Workspace').fill('Bench')
    await owner.getByLabel('Your name').fill('Ada')
    await owner.getByLabel('Email').fill('ada@example.com')
    await owner.getByLabel('Password').fill('a few words in a row')
    await owner.getByRole('button', { name: 'Create the workspace' }).click()
    await workspace(owner).waitFor()
    const session = await context.storageState()

    const first: Visit[] = []
    for (let n = 0; n < TIMES; n++) first.push(await visit(browser, `${url}/agents`, session))
    const loaded = first[0]?.scripts ?? new Map<string, number>()
    const agent = `/agents/${prepared.agentId}`
    const paths = [
      ...['', '/playground', '/sources', '/search', '/instructions', '/actions', '/procedures'],
      ...['/conversations', '/inbox', '/contacts', '/insights', '/evaluations', '/deploy', '/settings'],
    ].map((path) => agent + path)
    const pages: [string, Visit][] = []
    for (const path of [...paths, '/agents/new', '/workspace', '/workspace/account'])
      pages.push([path.replace(prepared.agentId, '{agentId}'), await visit(browser, url + path, session)])

    const opened: number[] = []
    for (let n = 0; n < TIMES; n++) opened.push(await openList(owner, `${url}${agent}/insights`))
    const frames = await scrollList(owner)
    const dropped = frames.filter((ms) => ms > DROPPED_MS).length
    const [largest, more] = pages
      .map(([path, { scripts }]) => [path, sizeOf(scripts, loaded)] as const)
      .reduce((most, one) => (one[1] > most[1] ? one : most))
    const shift = Math.max(...[...first, ...pages.map(([, one]) => one)].map((one) => one.shift))
    return report(
      server ? 'PostgreSQL' : 'Embedded database',
      [
        { what: 'Script of the first load, gzip', measured: sizeOf(loaded), unit: 'KB', budget: 200 },
        { what: `Script of a page more, at most (${largest})`, measured: more, unit: 'KB', budget: 60 },
        {
          what: 'First paint of the agents page, cold',
          measured: median(first.map(({ paintMs }) => paintMs)),
          unit: 'ms',
          budget: 1_000,
        },
        {
          what: 'Heading of the agents page, cold',
          measured: median(first.map(({ readyMs }) => readyMs)),
          unit: 'ms',
          budget: 1_000,
        },
        {
          what: `A list of ${CONVERSATIONS.toLocaleString('en')} conversations opens`,
          measured: median(opened),
          unit: 'ms',
          budget: 100,
        },
        {
          what: `Frames dropped of ${frames.length} while it scrolls`,
          measured: dropped,
          unit: '',
          budget: 0,
        },
        { what: 'Layout shift of a page, at most', measured: shift, unit: '', budget: 0.02 },
      ],
      pages.map(([path, { scripts, shift }]) => [path, sizeOf(scripts, loaded), shift] as const),
    )
  } finally {
    await browser.close()
    await stop(child)
    await prepared.remove()
  }
}

function report(database: string, budgets: Budget[], pages: (readonly [string, number, number])[]): string {
  const round = (value: number): string => String(Number(value.toFixed(value < 1 ? 3 : 1)))
  const rows = budgets.map(({ what, measured, unit, budget }) => {
    const ratio = budget === 0 ? (measured === 0 ? 'met' : 'missed') : round(measured / budget)
    return `| ${what} | ${round(measured)} ${unit} | ${round(budget)} ${unit} | ${ratio} |`
  })
  return `# The workspace in a browser

${new Date().toISOString()}, ${cpus()[0]?.model}, ${cpus().length} cores, Node ${process.version}; \`npm run bench web\`. ${database},
headless Chromium without a graphics card on the same machine, 1440 × 900; times are medians of ${TIMES}.

| what | measured | budget | ratio |
| - | - | - | - |
${rows.join('\n')}

| page | script more than the agents page, KB gzip | layout shift |
| - | - | - |
${pages.map(([path, kb, shift]) => `| \`${path}\` | ${round(kb)} | ${round(shift)} |`).join('\n')}
`
}
