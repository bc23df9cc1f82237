import { cpus, loadavg } from 'node:os'
import { sql } from 'kysely'
import { type Browser, chromium, type Page } from 'playwright-core'
import { createLink, linkTo } from '../server/accounts/links/links.ts'
import { type Db, openEmbedded, openPostgres } from '../server/platform/db/database.ts'
import type { AgentRef } from '../server/platform/db/refs.ts'
import { browserHere } from '../test/find-browser.ts'
import {
  FIRST_ROW,
  filterList,
  median,
  memoryOf,
  navigation,
  newPage,
  openList,
  pressUntil,
  type Session,
  scrollList,
  settled,
  sizeOf,
  type Visit,
  visit,
  within,
} from './browser-measures.ts'
import { addManyConversations } from './many-conversations.ts'
import { type Prepared, prepare, start, stop } from './service.ts'

const CONVERSATIONS = 100_000
const LONG = 500
const TIMES = 7
/** The time of a frame on a screen with 60 Hz, with some tolerance. */
const FRAME_MS = 1_000 / 60
const DROPPED_MS = 1.5 * FRAME_MS
const PAGES = [
  ...['', '/playground', '/sources', '/search', '/instructions', '/actions', '/procedures'],
  ...['/conversations', '/inbox', '/contacts', '/insights', '/evaluations', '/deploy', '/settings'],
]

/** Each choice leaves a list with another first row, which the page does not have yet. */
const FILTERS = [
  ['Channel', 'Email'],
  ['Channel', 'Widget or Iframe'],
  ['Channel', 'API'],
  ['Mood', 'neutral'],
  ['Mood', 'negative'],
  ['Mood', 'positive'],
  ['Handed over', 'true'],
] as const

type Figure = { what: string; measured: number; unit: string; budget?: number }

/** Measures the workspace in a browser, with an installation that has many conversations. Returns a report. */
export async function webScenario(server: string | null): Promise<string> {
  const begun = Date.now()
  // Everything that was started is stopped in the reverse order, also after a failure.
  await using ends = new AsyncDisposableStack()
  const prepared = await prepare(server, 1, async (db, agent) => {
    await addManyConversations(db, agent, CONVERSATIONS)
    await lengthenNewest(db, agent)
  })
  ends.defer(prepared.remove)
  const link = await setUpLink(prepared)
  console.log(`filled in ${seconds(begun)} s`)
  const { url, child } = await start(['server/main.ts'], prepared.env)
  ends.defer(() => stop(child))
  const browser = await chromium.launch({ ...browserHere(), args: ['--no-sandbox'] })
  ends.defer(() => browser.close())
  const load = [loadavg()[0] ?? 0]
  const page = await newPage(browser)
  const session = await setUp(page, linkTo(url, 'set-up', link))
  const agent = `${url}/agents/${prepared.agentId}`
  const first: Visit[] = []
  for (let n = 0; n < TIMES; n++) first.push(await visit(browser, `${url}/agents`, session))
  console.log(`first loads after ${seconds(begun)} s`)
  const pages = await visitPages(browser, agent, session)
  console.log(`pages after ${seconds(begun)} s`)
  const list = await measureList(page, agent)
  console.log(`list after ${seconds(begun)} s`)
  const live = await measureLive(page, agent, prepared)
  load.push(loadavg()[0] ?? 0)
  const about = `${server ? 'PostgreSQL' : 'Embedded database'}, headless Chromium without a graphics card on the same machine,
1440 × 900; times are medians of ${TIMES}. The load average was ${load.map((one) => one.toFixed(1)).join(' at the beginning and ')} at the end; all of it took ${seconds(begun)} s.`
  return report(about, [...figuresOf(first, pages), ...list, ...live], first[0], pages)
}

const seconds = (since: number): string => ((Date.now() - since) / 1_000).toFixed(0)

/** Makes the conversation that is listed first a long one. */
async function lengthenNewest(db: Db, { accountId, agentId }: AgentRef): Promise<void> {
  const { id } = await db
    .selectFrom('conversations')
    .select('id')
    .where('account_id', '=', accountId)
    .where('agent_id', '=', agentId)
    .orderBy('updated_at', 'desc')
    .executeTakeFirstOrThrow()
  await sql`insert into messages (id, account_id, agent_id, conversation_id, seq, role, parts, created_at)
    select gen_random_uuid(), ${accountId}, ${agentId}, ${id}, k, case when k % 2 = 1 then 'user' else 'assistant' end,
      jsonb_build_array(jsonb_build_object('type', 'text', 'text',
        'Message **' || k || '** of a long conversation, with a [link](https://example.com/' || k || ').')), now()
    from generate_series(6, ${sql.lit(LONG)}) as k`.execute(db)
  await db
    .updateTable('conversations')
    .set({ last_seq: LONG })
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .execute()
}

async function setUpLink({ env, accountId }: Prepared): Promise<string> {
  const { DATABASE_URL, DATA_DIR = '' } = env
  const database = DATABASE_URL ? openPostgres(DATABASE_URL, 2) : await openEmbedded(DATA_DIR)
  const { token } = await createLink(database.db, { accountId, kind: 'set-up', createdBy: 'operator' })
  await database.close()
  return token
}

async function setUp(page: Page, link: string): Promise<Session> {
  await page.goto(link)
  await page.getByLabel('Workspace').fill('Bench')
  await page.getByLabel('Your name').fill('Ada')
  await page.getByLabel('Email').fill('ada@example.com')
  await page.getByLabel('Password').fill('a few words in a row')
  await page.getByRole('button', { name: 'Create the workspace' }).click()
  await navigation(page).waitFor()
  return page.context().storageState()
}

async function visitPages(browser: Browser, agent: string, session: Session): Promise<[string, Visit][]> {
  const { origin, pathname } = new URL(agent)
  const paths = [...PAGES.map((path) => pathname + path), '/agents/new', '/workspace', '/workspace/account']
  const pages: [string, Visit][] = []
  for (const path of paths)
    pages.push([path.replace(pathname, '/agents/{agentId}'), await visit(browser, origin + path, session)])
  return pages
}

async function measureList(page: Page, agent: string): Promise<Figure[]> {
  const opened: number[] = []
  for (let n = 0; n < TIMES; n++) opened.push(await openList(page, `${agent}/insights`))
  const frames = await scrollList(page)
  const rows = await page.evaluate<number>(`document.querySelectorAll('main ul[style] li').length`)
  const memory = await memoryOf(page)
  await page.goto(`${agent}/conversations`)
  await page.getByRole('button', { name: 'Filter' }).click()
  const filtered: number[] = []
  for (const [label, value] of FILTERS) filtered.push(await filterList(page, label, value))
  const read: number[] = []
  for (let n = 0; n < TIMES; n++) {
    await page.goto(`${agent}/conversations`)
    await page.locator('main ul[style] li').first().waitFor()
    const whole = `document.querySelectorAll('[aria-label=Messages] article').length === ${LONG}`
    read.push(await pressUntil(page, `${FIRST_ROW}.click()`, whole))
  }
  const many = CONVERSATIONS.toLocaleString('en')
  return [
    { what: `A list of ${many} conversations opens`, measured: median(opened), unit: 'ms', budget: 100 },
    {
      what: `Frames dropped of ${frames.length} while it scrolls and loads more`,
      measured: frames.filter((ms) => ms > DROPPED_MS).length,
      unit: '',
      budget: 0,
    },
    { what: 'The longest of these frames', measured: Math.max(...frames), unit: 'ms' },
    { what: 'It is filtered', measured: median(filtered), unit: 'ms', budget: 100 },
    { what: `A conversation of ${LONG} messages opens from it`, measured: median(read), unit: 'ms' },
    { what: 'Rows on the page after it was scrolled', measured: rows, unit: '' },
    { what: 'Memory of its scripts then', measured: memory.heapMB, unit: 'MB' },
    { what: 'Its nodes then', measured: memory.nodes, unit: '' },
  ]
}

/** Measures the time from the request that opens a ticket until the open inbox shows it. */
async function measureLive(page: Page, agent: string, { keys: [key], agentId }: Prepared): Promise<Figure[]> {
  await page.goto(`${agent}/inbox`)
  await navigation(page).waitFor()
  await settled(page)
  const { origin } = new URL(agent)
  const delays: number[] = []
  for (let n = 0; n < TIMES; n++) {
    const subject = `Live ${n}`
    const shown = page.evaluate<number>(`new Promise((done) => {
      const look = () => [...document.querySelectorAll('main li')].some((row) => row.textContent.includes('${subject}'))
        && (seeing.disconnect(), done(Date.now()))
      const seeing = new MutationObserver(look)
      seeing.observe(document.body, { subtree: true, childList: true, characterData: true })
    })`)
    const begun = Date.now()
    const answer = await fetch(`${origin}/api/v2/agents/${agentId}/helpdesk/tickets`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ subject, description: 'Where is it?', customer: { email: 'eve@example.org' } }),
    })
    if (!answer.ok) throw new Error(await answer.text())
    delays.push((await within(`the ticket “${subject}”`, shown)) - begun)
  }
  return [
    { what: 'A ticket that is opened is shown in the open inbox', measured: median(delays), unit: 'ms' },
  ]
}

function figuresOf(first: Visit[], pages: [string, Visit][]): Figure[] {
  const loaded = first[0]?.scripts ?? new Map<string, number>()
  const [largest, more] = pages
    .map(([path, { scripts }]) => [path, sizeOf(scripts, loaded)] as const)
    .reduce((most, one) => (one[1] > most[1] ? one : most))
  const shift = Math.max(...[...first, ...pages.map(([, one]) => one)].map((one) => one.shift))
  return [
    { what: 'Script of the first load', measured: sizeOf(loaded), unit: 'KB', budget: 200 },
    { what: `Script of a page more, at most (\`${largest}\`)`, measured: more, unit: 'KB', budget: 60 },
    {
      what: 'First paint of the agents page, cold',
      measured: median(first.map(({ paintMs }) => paintMs)),
      unit: 'ms',
      budget: 1_000,
    },
    {
      what: 'Heading and menu of the agents page, cold',
      measured: median(first.map(({ readyMs }) => readyMs)),
      unit: 'ms',
      budget: 1_000,
    },
    { what: 'Layout shift of a page, at most', measured: shift, unit: '', budget: 0.02 },
  ]
}

const round = (value: number): string => String(Number(value.toFixed(value < 1 ? 3 : value < 100 ? 1 : 0)))

function outcomeOf({ measured, budget }: Figure): string {
  if (budget === undefined) return '–'
  const share = budget === 0 ? '' : ` (${Math.round((measured / budget) * 100)} %)`
  return `${measured <= budget ? 'met' : 'missed'}${share}`
}

function report(
  about: string,
  figures: Figure[],
  first: Visit | undefined,
  pages: [string, Visit][],
): string {
  const rows = figures.map((figure) => {
    const { what, measured, unit, budget } = figure
    const allowed = budget === undefined ? '–' : `${round(budget)} ${unit}`
    return `| ${what} | ${round(measured)} ${unit} | ${allowed} | ${outcomeOf(figure)} |`
  })
  const bytes = Object.entries(first?.bytes ?? {}).sort(([, a], [, b]) => b - a)
  return `# The workspace in a browser

${new Date().toISOString()}, ${cpus()[0]?.model}, ${cpus().length} cores, Node ${process.version}; \`npm run bench web\`. ${about}
Sizes are what the browser received, compressed and with headers; the script of the inbox's shared worker is not among them.

| what | measured | budget | |
| - | - | - | - |
${rows.join('\n')}

The first load in all: ${bytes.map(([type, size]) => `${type.toLowerCase()} ${round(size / 1_000)} KB`).join(', ')}.

| page | script more than the agents page, KB | layout shift |
| - | - | - |
${pages.map(([path, { scripts, shift }]) => `| \`${path}\` | ${round(sizeOf(scripts, first?.scripts))} | ${round(shift)} |`).join('\n')}
`
}
