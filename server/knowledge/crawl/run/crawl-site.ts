import { setTimeout as wait } from 'node:timers/promises'
import type { Context } from '../../../context.ts'
import type { Attempt } from '../../../platform/jobs/jobs.ts'
import { crawlPage } from '../pages/crawl-page.ts'
import type { PageRow } from '../pages/page-row.ts'
import { createPageWriter } from '../pages/page-writer.ts'

import { createRobotsCache, type RobotsCache } from '../site/load-robots.ts'
import { claimPages, isMuchWaiting, LEASE_SECONDS, releaseClaims, renewClaims } from './claim-pages.ts'
import { type CrawlRun, openRun } from './crawl-run.ts'
import { CRAWL_SITE, type CrawlSite } from './enqueue-crawl.ts'
import { failCrawl, finishCrawl } from './finish-crawl.ts'
import { learnSite } from './learn-site.ts'
import { seedCrawl } from './seed-crawl.ts'

type CrawlNeeds = Pick<
  Context,
  'db' | 'embedded' | 'extractor' | 'fetcher' | 'jobs' | 'log' | 'models' | 'ocr' | 'renderer'
>

/** The length of a slice. After it, other crawls get their turn, and the service can stop. */
const SLICE_MS = 10_000
const PAGES_AT_ONCE = 8
const CLAIMED_AT_ONCE = 24
const SLOW_PAUSE_MS = 1_000
const MAX_DELAY_MS = 60_000
/** From this number of waiting pages on, another process helps. */
const MUCH = 100
const LOOK_AGAIN_MS = 250

/**
 * Works on a crawl for one slice of time and enqueues the next slice until all pages are handled. Pages are claimed
 * in small batches, so any number of processes may work on one crawl, and nothing is lost when one dies.
 */
export async function crawlSite(ctx: CrawlNeeds, payload: CrawlSite, attempt: Attempt): Promise<void> {
  const run = await openRun(ctx, payload, attempt.signal)
  if (!run) return
  try {
    const isDone = await workOn(ctx, run, attempt.signal)
    if (isDone) await finishCrawl(ctx, run)
    else if (payload.chain !== null) await goOnLater(ctx, run, payload)
  } catch (error) {
    if (!attempt.isLast(error) || payload.chain === null) throw error
    ctx.log.error({ err: error, source: run.sourceId }, 'a crawl failed with an unexpected error')
    await failCrawl(
      ctx.db,
      run,
      'It could not be stored. Try again, or ask your operator to look at the log.',
    )
  }
}

/** Returns true when every page has been handled. */
async function workOn(ctx: CrawlNeeds, run: CrawlRun, signal: AbortSignal): Promise<boolean> {
  if (!run.seeded && !(await seedCrawl(ctx, run, signal))) return false
  const robots = createRobotsCache(ctx, signal)
  const delayMs = await delayOf(run, robots)
  if (!(await learnSite(ctx, run, { robots, delayMs, signal }))) return false
  if (!ctx.embedded && (await isMuchWaiting(ctx.db, run, MUCH))) await askForHelp(ctx, run)
  const over = new AbortController()
  const renew = async (): Promise<void> => {
    if (!(await renewClaims(ctx.db, run))) over.abort()
  }
  const renewing = setInterval(
    () =>
      void renew().catch((error: unknown) =>
        ctx.log.warn({ err: error }, 'the claims of a crawl could not be renewed'),
      ),
    (LEASE_SECONDS * 1_000) / 3,
  )
  try {
    return await drain(ctx, run, { robots, delayMs, signal: AbortSignal.any([signal, over.signal]), over })
  } finally {
    clearInterval(renewing)
    await releaseClaims(ctx.db, run)
  }
}

type CrawlRules = { robots: RobotsCache; delayMs: number; signal: AbortSignal }

async function drain(
  ctx: Pick<Context, 'db' | 'extractor' | 'fetcher' | 'log' | 'models' | 'ocr' | 'renderer'>,
  run: CrawlRun,
  { robots, delayMs, signal, over }: CrawlRules & { over: AbortController },
): Promise<boolean> {
  const until = performance.now() + SLICE_MS
  const writer = createPageWriter(ctx, run)
  const working = new Set<Promise<void>>()
  const claimed: PageRow[] = []
  const start = (page: PageRow): void => {
    const work = crawlPage(ctx, run, page, robots, signal).then((outcome) => {
      working.delete(work)
      if (!signal.aborted) writer.add({ page, outcome })
    })
    working.add(work)
  }
  try {
    while (performance.now() < until && !signal.aborted && !writer.isOver) {
      let waitMs = LOOK_AGAIN_MS
      if (claimed.length === 0 && working.size <= PAGES_AT_ONCE / 2) {
        const claim = await claimPages(ctx.db, run, CLAIMED_AT_ONCE, delayMs)
        if (claim === null) {
          over.abort()
          return false
        }
        if (claim.isDone) return true
        claimed.push(...claim.pages)
        waitMs = Math.min(claim.waitMs || waitMs, waitMs)
      }
      while (working.size < PAGES_AT_ONCE && claimed.length > 0 && !writer.isFull) start(claimed.shift()!)
      await Promise.race([...working, writer.written(), wait(waitMs)])
    }
    return false
  } finally {
    // What is still read would not be stored.
    if (writer.isOver) over.abort()
    await Promise.all(working)
    await writer.close()
  }
}

/** Returns the delay between two requests that the site and the customer want. */
async function delayOf(run: CrawlRun, robots: RobotsCache): Promise<number> {
  const rules = await robots(run.start)
  const asked = typeof rules === 'string' ? 0 : (rules.delayMs ?? 0)
  return Math.min(Math.max(asked, run.slow ? SLOW_PAUSE_MS : 0), MAX_DELAY_MS)
}

const goOnLater = (
  { db, jobs }: Pick<Context, 'db' | 'jobs'>,
  { account }: CrawlRun,
  payload: CrawlSite,
): Promise<void> => jobs.enqueue<CrawlSite>(db, CRAWL_SITE, payload, 0, account.id)

/** Enqueues one slice for another process. */
const askForHelp = (ctx: Pick<Context, 'db' | 'jobs'>, run: CrawlRun): Promise<void> =>
  goOnLater(ctx, run, { sourceId: run.sourceId, version: run.version, chain: null })
