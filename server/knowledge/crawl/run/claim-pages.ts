import { type SqlBool, sql } from 'kysely'
import type { Db, Trx } from '../../../platform/db/database.ts'
import { ownRow } from '../../../platform/db/refs.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import { countMove, type PageRow, shownStatus } from '../pages/page-row.ts'
import { leaveOutPaused } from '../traps/leave-out-paused.ts'
import { type CrawlRun, type LockedSource, step } from './crawl-run.ts'

/** A claim expires after this time unless it is renewed, so that the pages of a killed process are released. */
export const LEASE_SECONDS = 15
const LEFT_OUT_AT_ONCE = 500
const LOOK_AGAIN_MS = 250

type Claim = {
  pages: PageRow[]
  /** The time to wait before the next attempt, if there are no pages. */
  waitMs: number
  /** Whether every page that was found has been handled. */
  isDone: boolean
}

/**
 * Claims up to `most` pages for this run in the order of their discovery. With a `delayMs`, all processes together
 * claim one page at a time, with that delay. Returns null when the crawl is over.
 */
export async function claimPages(
  db: Db,
  run: CrawlRun,
  most: number,
  delayMs: number,
): Promise<Claim | null> {
  const claim = await step(db, run, async (trx, source) => {
    await leaveOutBeyondLimit(trx, run, source)
    source.metadata.waiting = await countWaiting(trx, run)
    const now = Date.now()
    const none = { pages: [], waitMs: LOOK_AGAIN_MS, isDone: false }
    if (delayMs > 0 && (await isAnyHeld(trx, run))) return none
    if (source.state.nextAt > now) return { ...none, waitMs: source.state.nextAt - now }
    const pages = await nextPages(trx, run, source, delayMs > 0 ? 1 : most)
    if (pages.length === 0) return { ...none, isDone: !(await isAnyWaiting(trx, run)) }
    if (delayMs > 0) source.state.nextAt = now + delayMs
    await trx
      .updateTable('pages')
      .set({ holder: run.holder, held_until: leaseEnd })
      .where('account_id', '=', run.account.id)
      .where(
        'id',
        'in',
        pages.map(({ id }) => id),
      )
      .execute()
    return { pages, waitMs: 0, isDone: false }
  })
  return claim?.result ?? null
}

/** Returns the next pages to read. Those that are not to be read because of their addresses are left out on the way. */
async function nextPages(trx: Trx, run: CrawlRun, source: LockedSource, most: number): Promise<PageRow[]> {
  for (;;) {
    const free = await waiting(trx, run)
      .selectAll()
      .where(isFree)
      .orderBy('number')
      .limit(source.metadata.paused ? LEFT_OUT_AT_ONCE : most)
      .execute()
    const pages = await leaveOutPaused(trx, run, source, free)
    if (pages.length > 0 || free.length === 0) return pages.slice(0, most)
  }
}

/** Renews the claims of this run. Returns false when the crawl is over. */
export async function renewClaims(db: Db, run: CrawlRun): Promise<boolean> {
  const renewed = await step(db, run, (trx) => changeClaims(trx, run, { held_until: leaseEnd }))
  return renewed !== null
}

/**
 * Releases the claimed pages that this run has not handled, even after the crawl is over. It locks the source first,
 * because a step, which holds that lock, updates the same pages in another order, and the two could deadlock otherwise.
 */
export const releaseClaims = (db: Db, run: CrawlRun): Promise<void> =>
  transact(db, async (trx) => {
    await trx
      .selectFrom('sources')
      .select('id')
      .where(ownRow(run.account.id, run.sourceId))
      .forNoKeyUpdate()
      .execute()
    await changeClaims(trx, run, { holder: null, held_until: null })
  })

/** Changes all claims of this run. Needs the lock of the source. */
async function changeClaims(
  trx: Trx,
  run: CrawlRun,
  change: { holder?: null; held_until: null | typeof leaseEnd },
): Promise<void> {
  await trx
    .updateTable('pages')
    .set(change)
    .where('account_id', '=', run.account.id)
    .where('source_id', '=', run.sourceId)
    .where('holder', '=', run.holder)
    .execute()
}

/** Releases all claims. It is called at the start of the only process. */
export async function freeClaims(db: Db): Promise<void> {
  await db
    .updateTable('pages')
    .set({ holder: null, held_until: null })
    .where('holder', 'is not', null)
    .execute()
}

const leaseEnd = sql<Date>`now() + make_interval(secs => ${sql.lit(LEASE_SECONDS)})`
const isFree = sql<SqlBool>`(held_until is null or held_until < now())`

/** A condition for the pages that this crawl has found and not handled. */
const waiting = (db: Db, run: CrawlRun) =>
  db
    .selectFrom('pages')
    .where('account_id', '=', run.account.id)
    .where('source_id', '=', run.sourceId)
    .where('found_in', '=', run.version)
    .where('crawled_in', '<', run.version)
    // This condition is redundant, but it allows the index of waiting pages to be used.
    .whereRef('crawled_in', '<', 'found_in')

export async function isAnyWaiting(db: Db, run: CrawlRun): Promise<boolean> {
  return (await waiting(db, run).select('id').limit(1).executeTakeFirst()) !== undefined
}

async function countWaiting(trx: Trx, run: CrawlRun): Promise<number> {
  const count = await waiting(trx, run)
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count.count
}

/** Returns whether there is more to do than one process should do alone. */
export async function isMuchWaiting(db: Db, run: CrawlRun, much: number): Promise<boolean> {
  return (await waiting(db, run).select('id').limit(much).execute()).length === much
}

async function isAnyHeld(trx: Trx, run: CrawlRun): Promise<boolean> {
  const held = await waiting(trx, run)
    .select('id')
    .where('holder', 'is not', null)
    .where(sql<SqlBool>`held_until >= now()`)
    .limit(1)
    .executeTakeFirst()
  return held !== undefined
}

/** Once the plan's number of pages is included, the other pages are not requested. */
async function leaveOutBeyondLimit(trx: Trx, run: CrawlRun, { metadata }: LockedSource): Promise<void> {
  if (metadata.children.included < run.limit) return
  const pages = await waiting(trx, run)
    .select(['id', 'status', 'hidden'])
    .where('status', '<>', 'included')
    // A page that waits for another attempt keeps its error.
    .where('tries', '=', 0)
    .where(isFree)
    .limit(LEFT_OUT_AT_ONCE)
    .execute()
  if (pages.length === 0) return
  for (const page of pages)
    countMove(metadata.children, shownStatus(page), shownStatus({ ...page, status: 'excluded' }))
  await trx
    .updateTable('pages')
    .set({ status: 'excluded', error: limitSentence(run), crawled_in: run.version })
    .where('account_id', '=', run.account.id)
    .where(
      'id',
      'in',
      pages.map(({ id }) => id),
    )
    .execute()
}

export const limitSentence = ({ limit }: CrawlRun): string =>
  `Left out: the website already has ${limit} pages here, which is the limit.`
