import { type SqlBool, sql } from 'kysely'
import type { Context } from '../../../context.ts'
import type { Trx } from '../../../platform/db/database.ts'
import { ownRow } from '../../../platform/db/refs.ts'
import { json } from '../../../platform/db/statements/json.ts'
import { type CrawlRun, type LockedSource, step } from '../run/crawl-run.ts'
import { isInSite } from '../site/site.ts'
import { watchPages } from '../traps/watch-pages.ts'
import { addPages, markNumbersFound } from './add-pages.ts'
import { changeOf, type PageChange } from './page-change.ts'
import type { PageOutcome } from './page-outcome.ts'
import { countMove, type PageRow, shownSize, shownStatus } from './page-row.ts'
import { publishPages } from './publish-pages.ts'
import { storeUnchanged } from './store-unchanged.ts'

/** The most attempts for a page in one crawl. */
const MAX_TRIES = 3
const PAUSE_MS = 1_000

export type ReadPage = { page: PageRow; outcome: PageOutcome }

/**
 * Stores the results of reading several pages and their links in one step, from which on their texts are live. Pages that another process has handled
 * meanwhile are skipped. Returns the number of temporary failures in a row, or null when the crawl is over.
 */
export async function storePages(
  ctx: Pick<Context, 'db' | 'models'>,
  run: CrawlRun,
  read: readonly ReadPage[],
): Promise<number | null> {
  const learned = new Map<string, number>()
  const marked: number[] = []
  const links = read.flatMap(({ outcome }) => ('links' in outcome && outcome.links) || [])
  await run.rules.prepare(links.filter((url) => isInSite(run.site, url) && !run.found.has(url.href)))
  const added = read.reduce(
    (sum, { outcome }) => sum + (outcome.kind === 'content' ? outcome.content.chunks.length : 0),
    0,
  )
  const work = async (trx: Trx, source: LockedSource) => {
    learned.clear()
    marked.length = 0
    const outcomes = new Map(read.map(({ page, outcome }) => [page.id, outcome]))
    const rows = await trx
      .selectFrom('pages')
      .selectAll()
      .where('account_id', '=', run.account.id)
      .where('id', 'in', [...outcomes.keys()])
      .where('crawled_in', '<', run.version)
      .orderBy('number')
      .execute()
    const unchanged = rows.filter(({ id }) => outcomes.get(id)?.kind === 'unchanged')
    const stored = await storeUnchanged(trx, run, unchanged)
    if (stored.size > 0) source.state.failures = 0
    const linked = unchanged.flatMap(({ links }) => links)
    marked.push(...(await markNumbersFound(trx, run, linked)))
    for (const page of rows) {
      if (stored.has(page.id)) continue
      const found = await storeOne(trx, run, source, page, outcomes.get(page.id)!)
      for (const [href, number] of found) learned.set(href, number)
    }
    const isLive = added > 0 && source.metadata.children.included > 0
    if (isLive) await publishPages(ctx, trx, run, source, added)
    return { failures: source.state.failures, isLive, metadata: source.metadata }
  }
  const done = await step(ctx.db, run, work, { withAgent: added > 0 && !run.isLive })
  if (done === null) return null
  for (const [href, number] of learned) run.found.set(href, number)
  for (const number of marked) run.marked.add(number)
  run.isLive ||= done.result.isLive
  const ids = read.map(({ page }) => page.id)
  await watchPages(ctx.db, run, ids, done.result.metadata)
  return done.result.failures
}

/** Returns the pages that it links to, by URL. */
async function storeOne(
  trx: Trx,
  run: CrawlRun,
  source: LockedSource,
  page: PageRow,
  outcome: PageOutcome,
): Promise<Map<string, number>> {
  const isPassing = outcome.kind === 'failed' && outcome.passing
  source.state.failures = isPassing ? source.state.failures + 1 : 0
  if (isPassing && outcome.waitMs > 0)
    source.state.nextAt = Math.max(source.state.nextAt, Date.now() + outcome.waitMs)
  if (isPassing && page.tries + 1 < MAX_TRIES) {
    await tryAgain(trx, page, Math.max(outcome.waitMs, PAUSE_MS * 2 ** page.tries))
    return new Map()
  }
  const links = await linksOf(trx, run, source, page, outcome)
  const change = await changeOf(trx, run, source, page, outcome)
  if (links) change.links = json([...links.values()].filter((number) => number !== page.number))
  await writePage(trx, run, source, page, change)
  return links ?? new Map()
}

async function tryAgain(trx: Trx, page: PageRow, pauseMs: number): Promise<void> {
  await trx
    .updateTable('pages')
    .set({ tries: page.tries + 1, holder: null, held_until: new Date(Date.now() + pauseMs) })
    .where(ownRow(page.account_id, page.id))
    .execute()
}

/** Returns the pages that this one links to, or null when the known links still count. */
async function linksOf(
  trx: Trx,
  run: CrawlRun,
  source: LockedSource,
  page: PageRow,
  outcome: PageOutcome,
): Promise<Map<string, number> | null> {
  if (outcome.kind === 'unchanged') return null
  if (outcome.links === null) {
    await markNumbersFound(trx, run, page.links)
    return null
  }
  // In a sitemap source, only a page that replaces a listed one is followed.
  const instead = outcome.kind === 'excluded' && outcome.instead ? [outcome.instead] : []
  return addPages(trx, run, source, run.type === 'crawl' ? outcome.links : instead, page.number)
}

async function writePage(
  trx: Trx,
  run: CrawlRun,
  source: LockedSource,
  page: PageRow,
  change: PageChange,
): Promise<void> {
  const after = { ...page, ...change, size: Number(change.size ?? page.size) } as PageRow
  countMove(source.metadata.children, shownStatus(page), shownStatus(after))
  source.size = Math.max(0, source.size + shownSize(after) - shownSize(page))
  await trx
    .updateTable('pages')
    .set({ fetched_at: new Date(), ...change, crawled_in: run.version, holder: null, held_until: null })
    .where(ownRow(run.account.id, page.id))
    .where(sql<SqlBool>`crawled_in < ${run.version}`)
    .execute()
}
