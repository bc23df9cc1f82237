import { type SqlBool, sql } from 'kysely'
import type { Db, Trx } from '../../../db/database.ts'
import { countMove, type PageRow, shownStatus } from '../pages/page-row.ts'
import { type CrawlRun, type LockedSource, step } from './crawl-run.ts'

/** A claim lasts this long unless it is renewed: what a killed process held is free again after it. */
export const LEASE_SECONDS = 15
const LEFT_OUT_AT_ONCE = 500
const LOOK_AGAIN_MS = 250

type Claim = {
  pages: PageRow[]
  /** With no pages: how long to wait before asking again. */
  waitMs: number
  /** Every page that was found is dealt with. */
  isDone: boolean
}

/**
 * Takes up to `most` pages for this run, in the order of their discovery. With a `delayMs`, one at a time in all
 * processes together, that long after each other. null: the crawl is over.
 */
export async function claimPages(
  db: Db,
  run: CrawlRun,
  most: number,
  delayMs: number,
): Promise<Claim | null> {
  const claim = await step(db, run, async (trx, source) => {
    await leaveOutBeyondLimit(trx, run, source)
    const now = Date.now()
    const none = { pages: [], waitMs: LOOK_AGAIN_MS, isDone: false }
    if (delayMs > 0 && (await isAnyHeld(trx, run))) return none
    if (source.state.nextAt > now) return { ...none, waitMs: source.state.nextAt - now }
    const pages = await waiting(trx, run)
      .selectAll()
      .where(isFree)
      .orderBy('number')
      .limit(delayMs > 0 ? 1 : most)
      .execute()
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

/** Keeps what this run has claimed. */
export async function renewClaims(db: Db, run: CrawlRun): Promise<void> {
  await db
    .updateTable('pages')
    .set({ held_until: leaseEnd })
    .where('account_id', '=', run.account.id)
    .where('source_id', '=', run.sourceId)
    .where('holder', '=', run.holder)
    .execute()
}

/** Gives back what this run has claimed and not dealt with. */
export async function releaseClaims(db: Db, run: CrawlRun): Promise<void> {
  await db
    .updateTable('pages')
    .set({ holder: null, held_until: null })
    .where('account_id', '=', run.account.id)
    .where('source_id', '=', run.sourceId)
    .where('holder', '=', run.holder)
    .execute()
}

/** At the start of the only process: nobody holds anything. */
export async function freeClaims(db: Db): Promise<void> {
  await db
    .updateTable('pages')
    .set({ holder: null, held_until: null })
    .where('holder', 'is not', null)
    .execute()
}

const leaseEnd = sql<Date>`now() + make_interval(secs => ${sql.lit(LEASE_SECONDS)})`
const isFree = sql<SqlBool>`(held_until is null or held_until < now())`

/** Pages that this crawl has found and not dealt with. */
const waiting = (db: Db, run: CrawlRun) =>
  db
    .selectFrom('pages')
    .where('account_id', '=', run.account.id)
    .where('source_id', '=', run.sourceId)
    .where('found_in', '=', run.version)
    .where('crawled_in', '<', run.version)
    // Says nothing more, but lets the index of waiting pages answer.
    .whereRef('crawled_in', '<', 'found_in')

export async function isAnyWaiting(db: Db, run: CrawlRun): Promise<boolean> {
  return (await waiting(db, run).select('id').limit(1).executeTakeFirst()) !== undefined
}

/** Whether there is more to do than one process should do alone. */
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

/** Once the plan's pages are included, what else was found is not even asked for. */
async function leaveOutBeyondLimit(trx: Trx, run: CrawlRun, { metadata }: LockedSource): Promise<void> {
  if (metadata.children.included < run.limit) return
  const pages = await waiting(trx, run)
    .select(['id', 'status', 'hidden'])
    .where('status', '<>', 'included')
    // One that waits for another try is told apart by what was wrong with it.
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
