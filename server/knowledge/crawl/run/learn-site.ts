import { setTimeout as wait } from 'node:timers/promises'
import type { Context } from '../../../context.ts'
import type { SiteBlocks } from '../../../platform/db/tables/knowledge.ts'
import type { PageOutcome } from '../pages/page-outcome.ts'
import type { PageRow } from '../pages/page-row.ts'
import { readPage } from '../pages/read-page.ts'
import type { RobotsCache } from '../site/load-robots.ts'
import { repeatedIn, type Sample } from '../site/repeated-blocks.ts'
import { isInSite, pageUrl } from '../site/site.ts'
import { type CrawlRun, step } from './crawl-run.ts'

/** How many pages are compared. */
const SAMPLE = 6
const MAX_TRIES = 2 * SAMPLE
const LEARN_MS = 30_000

type Rules = { robots: RobotsCache; delayMs: number; signal: AbortSignal }
type Deps = Pick<Context, 'db' | 'fetcher' | 'renderer' | 'extractor' | 'ocr'>

/**
 * Learns what the site repeats on most of its pages before its pages are read, so that what is left out of a page does not
 * depend on which were read before it. Later crawls compare the same pages: where nothing changed, nothing is left out
 * otherwise. Returns false when the crawl is over.
 */
export async function learnSite(ctx: Deps, run: CrawlRun, rules: Rules): Promise<boolean> {
  const before = run.blocks
  if (before?.learnedIn === run.version) return true
  const sample = run.wholePage ? null : await readSample(ctx, run, rules)
  const found = sample ? repeatedIn(sample) : { pages: before?.pages ?? [], keepers: before?.keepers ?? {} }
  const isSame = before && JSON.stringify(keepersOf(before)) === JSON.stringify(keepersOf(found))
  const blocks = { ...found, since: isSame ? before.since : run.version, learnedIn: run.version }
  // A page that has not changed is sent again where something else is left out of it.
  if (!isSame) for (const [url, sent] of run.sent) if ('kind' in sent) run.sent.delete(url)
  const stored = await step(ctx.db, run, async (_trx, { state }) => {
    state.blocks = blocks
  })
  run.blocks = blocks
  return stored !== null
}

const keepersOf = ({ pages, keepers }: Pick<SiteBlocks, 'pages' | 'keepers'>) =>
  Object.entries(keepers).map(([block, at]) => [block, pages[at]])

/** Reads some pages of the site ahead; null when what is known of it holds, or cannot be learned at the moment. */
async function readSample(
  ctx: Deps,
  run: CrawlRun,
  { robots, delayMs, signal }: Rules,
): Promise<Sample | null> {
  const before = run.blocks?.pages ?? []
  const rows = await rowsOf(ctx, run, before)
  const asked = new Set<string>()
  const queue = [...before, ...(await firstPages(ctx, run))]
  const until = performance.now() + LEARN_MS
  const read = async (page: Parameters<typeof readPage>[2]): Promise<PageOutcome> => {
    if (asked.size > 0 && delayMs > 0) await wait(delayMs, null, { signal })
    asked.add(page.url)
    await run.rules.prepare([new URL(page.url)])
    return readPage(ctx, run, page, robots, signal, undefined, true)
  }
  const sample: { url: string; outcome: PageOutcome; isSame: boolean }[] = []
  while (sample.length < SAMPLE && asked.size < MAX_TRIES && queue.length > 0) {
    const url = queue.shift()!
    const row = rows.get(url)
    if (asked.has(url) || row?.hidden) continue
    if (performance.now() + delayMs > until) {
      if (before.length > 0) return null
      break
    }
    const outcome = await read(row ?? { ...UNREAD, url })
    if (outcome.kind === 'failed' && outcome.passing && row) return null
    const isSame =
      outcome.kind === 'unchanged' ||
      (outcome.kind === 'content' && row?.content_hash === outcome.content.hash)
    if (isSame || outcome.kind === 'content') sample.push({ url, outcome, isSame })
    queue.push(...linksOf(run, outcome))
  }
  if (sample.every(({ isSame }) => isSame) && sample.length === before.length) return null
  const pages: Sample = []
  for (const { url, outcome } of sample) {
    if (outcome.kind === 'unchanged') run.sent.delete(url)
    const full = outcome.kind === 'unchanged' ? await read({ ...UNREAD, url }) : outcome
    if (full.kind === 'content') pages.push({ url, blocks: full.content.blocks })
  }
  return pages
}

async function rowsOf({ db }: Deps, run: CrawlRun, urls: readonly string[]): Promise<Map<string, PageRow>> {
  const rows = await db
    .selectFrom('pages')
    .selectAll()
    .where('account_id', '=', run.account.id)
    .where('source_id', '=', run.sourceId)
    .where('url', 'in', ['', ...urls])
    .execute()
  return new Map(rows.map((row) => [row.url, row]))
}

const UNREAD = {
  hidden: false,
  number: 0,
  status: 'pending',
  changed_in: 0,
  crawled_in: 0,
  etag: null,
  last_modified: null,
} as const

/** Returns the addresses that a crawl begins with: its start, or pages of the sitemap. */
async function firstPages({ db }: Deps, run: CrawlRun): Promise<string[]> {
  if (run.type === 'crawl') return [(pageUrl(run.start.href) ?? run.start).href]
  const listed = await db
    .selectFrom('pages')
    .select('url')
    .where('account_id', '=', run.account.id)
    .where('source_id', '=', run.sourceId)
    .where('found_in', '=', run.version)
    .where('hidden', '=', false)
    .orderBy('number')
    .limit(MAX_TRIES)
    .execute()
  return listed.map(({ url }) => url)
}

function linksOf(run: CrawlRun, outcome: PageOutcome): string[] {
  const links = ('links' in outcome && outcome.links) || []
  return links.filter((url) => isInSite(run.site, url)).map(({ href }) => href)
}
