import { type SqlBool, sql } from 'kysely'
import { bumpKnowledgeVersion } from '../../../agents/records/knowledge-state.ts'
import type { Context } from '../../../context.ts'
import type { Db, Trx } from '../../../platform/db/database.ts'
import { ownRow } from '../../../platform/db/refs.ts'
import { json } from '../../../platform/db/statements/json.ts'
import type { AccountId } from '../../../platform/db/tables/columns.ts'
import { enqueueAskAgain } from '../../training/enqueue-ask-again.ts'
import { countWords } from '../../training/store-chunks.ts'
import { recordedTraining } from '../../training/training-columns.ts'
import { switchSpace } from '../../vectors/fill-space.ts'
import { dropUnusedVectors } from '../../vectors/vectors.ts'
import { retirePages } from '../pages/page-chunks.ts'
import { countMove, shownSize, shownStatus } from '../pages/page-row.ts'
import { isAnyWaiting } from './claim-pages.ts'
import { type CrawlRun, type LockedSource, step } from './crawl-run.ts'

type Deps = Pick<Context, 'db' | 'jobs' | 'models'>

const PAGES_AT_ONCE = 200
const CHUNKS_AT_ONCE = 1_000

/**
 * Ends a crawl whose pages have all been handled. Only now the texts of pages that it did not find any more, or that have
 * none any more, are removed. Without any page to answer from, it fails and what was read before stays.
 */
export async function finishCrawl(ctx: Deps, run: CrawlRun): Promise<void> {
  const reason = await step(ctx.db, run, (trx) => reasonForFailure(trx, run))
  if (reason === null) return
  if (reason.result !== null) return failCrawl(ctx.db, run, reason.result)
  while ((await step(ctx.db, run, (trx, source) => dropLost(trx, run, source)))?.result) {}
  while ((await step(ctx.db, run, (trx) => dropFormerTexts(trx, run)))?.result) {}
  const done = await step(ctx.db, run, (trx, source) => goLive(ctx, trx, run, source), { withAgent: true })
  if (done?.result) await clearAway(ctx.db, run.account.id, run.sourceId)
}

/** Marks the crawl as failed. What is live stays, and the next crawl uses what was read. */
export async function failCrawl(db: Db, run: CrawlRun, reason: string): Promise<void> {
  await step(db, run, async (trx, source) => {
    source.metadata.crawlStatus = 'failed'
    delete source.metadata.waiting
    await trx
      .updateTable('sources')
      .set({
        status: 'failed',
        error: reason,
        updated_at: new Date(),
        ...recordedTraining('failed', { reason }),
      })
      .where(ownRow(run.account.id, run.sourceId))
      .execute()
  })
}

const pagesOf = (db: Db, accountId: AccountId, sourceId: string) =>
  db.selectFrom('pages').where('account_id', '=', accountId).where('source_id', '=', sourceId)

async function reasonForFailure(trx: Trx, run: CrawlRun): Promise<string | null> {
  const seen = pagesOf(trx, run.account.id, run.sourceId).where('crawled_in', '=', run.version)
  const included = await seen.select('id').where('status', '=', 'included').limit(1).executeTakeFirst()
  if (included) return null
  const first = await seen
    .select(['url', 'error'])
    // A page that redirects is excluded, and the one that it leads to may have failed.
    .orderBy(sql`status = 'failed'`, 'desc')
    .orderBy('number')
    .limit(1)
    .executeTakeFirst()
  if (!first) return 'No page was found.'
  const about = first.url === run.start.href ? '' : `${first.url}: `
  return `No page could be read. ${about}${first.error}`
}

/** Deletes some pages that this crawl has not found again. Returns whether there were any. */
async function dropLost(trx: Trx, run: CrawlRun, { state, metadata }: LockedSource): Promise<boolean> {
  if (state.partial) return false
  const lost = await pagesOf(trx, run.account.id, run.sourceId)
    .select(['id', 'status', 'hidden', 'changed_in'])
    .where('found_in', '<', run.version)
    .where('crawled_in', '<', run.version)
    .limit(PAGES_AT_ONCE)
    .execute()
  if (lost.length === 0) return false
  for (const page of lost) countMove(metadata.children, shownStatus(page), null)
  const ids = lost.map(({ id }) => id)
  await retirePages(trx, run, ids)
  await trx
    .updateTable('pages')
    .set({ crawled_in: run.version, status: 'excluded', changed_in: 0 })
    .where('account_id', '=', run.account.id)
    .where('id', 'in', ids)
    .execute()
  return true
}

/** Removes the texts of some pages that have none any more. Returns whether there were any. */
async function dropFormerTexts(trx: Trx, run: CrawlRun): Promise<boolean> {
  const pages = await pagesOf(trx, run.account.id, run.sourceId)
    .select('id')
    .where('status', '<>', 'included')
    .where('changed_in', '>', 0)
    .limit(PAGES_AT_ONCE)
    .execute()
  if (pages.length === 0) return false
  const ids = pages.map(({ id }) => id)
  await retirePages(trx, run, ids)
  await trx
    .updateTable('pages')
    .set({ changed_in: 0 })
    .where('account_id', '=', run.account.id)
    .where('id', 'in', ids)
    .execute()
  return true
}

async function goLive(
  { jobs, models }: Deps,
  trx: Trx,
  run: CrawlRun,
  source: LockedSource,
): Promise<boolean> {
  if (await isAnyWaiting(trx, run)) return false
  const { account, sourceId, agentId, version } = run
  const pages = await pagesOf(trx, account.id, sourceId)
    .select(['status', 'hidden', (eb) => eb.fn.countAll<number>().as('count')])
    .select(sql<number>`sum(size)::bigint`.as('size'))
    .where(isStillThere(source.state.partial ? 0 : version))
    .groupBy(['status', 'hidden'])
    .execute()
  const children = { included: 0, excluded: 0, failed: 0 }
  for (const page of pages) {
    const status = shownStatus(page)
    if (status !== 'pending') children[status] += page.count
  }
  source.size = pages.reduce((sum, page) => sum + shownSize(page), 0)
  source.metadata.children = children
  source.metadata.crawlStatus = 'fetched'
  source.state.uncounted = 0
  delete source.metadata.waiting
  await trx
    .updateTable('sources')
    .set({
      status: 'trained',
      live_version: version,
      ...(await countWords(trx, { accountId: account.id, agentId, sourceId }, version)),
      error: null,
      updated_at: new Date(),
      ...recordedTraining('live', { bytes: source.size }),
    })
    .where(ownRow(account.id, sourceId))
    .execute()
  await bumpKnowledgeVersion(trx, { accountId: account.id, agentId }, true)
  await enqueueAskAgain(jobs, trx, { accountId: account.id, agentId })
  await switchSpace(trx, { accountId: account.id, agentId }, models.embedder?.space ?? null)
  return true
}

const isStillThere = (version: number) => sql<SqlBool>`found_in >= ${version}`

/** Deletes in small steps what is no longer used: pages that were lost before the live crawl, and retired chunks. */
async function clearAway(db: Db, accountId: AccountId, sourceId: string): Promise<void> {
  while (await clearSome(db, accountId, sourceId)) {}
  await db.transaction().execute(async (trx) => {
    // A new crawl may already have stored vectors whose chunks follow later.
    const source = await trx
      .selectFrom('sources')
      .select('agent_id')
      .where(ownRow(accountId, sourceId))
      .where('status', 'not in', ['untrained', 'updated'])
      .forNoKeyUpdate()
      .executeTakeFirst()
    if (source)
      await dropUnusedVectors(trx, { id: sourceId, account_id: accountId, agent_id: source.agent_id })
  })
}

async function clearSome(db: Db, accountId: AccountId, sourceId: string): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const source = await trx
      .selectFrom('sources')
      .select(['live_version', 'crawl'])
      .where(ownRow(accountId, sourceId))
      .forNoKeyUpdate()
      .executeTakeFirst()
    if (!source?.crawl || source.live_version === null) return false
    const live = source.live_version
    const lost = source.crawl.partial
      ? []
      : await pagesOf(trx, accountId, sourceId)
          .select('id')
          .where('found_in', '<', live)
          .where('crawled_in', '>=', live)
          .limit(PAGES_AT_ONCE)
          .execute()
    if (lost.length > 0) {
      const ids = lost.map(({ id }) => id)
      await trx.deleteFrom('pages').where('account_id', '=', accountId).where('id', 'in', ids).execute()
      const crawl = { ...source.crawl, rows: source.crawl.rows - lost.length }
      await trx
        .updateTable('sources')
        .set({ crawl: json(crawl) })
        .where(ownRow(accountId, sourceId))
        .execute()
    }
    const retired = await trx
      .selectFrom('chunks')
      .select('id')
      .where('account_id', '=', accountId)
      .where('source_id', '=', sourceId)
      .where('retired_in', '<=', live)
      .limit(CHUNKS_AT_ONCE)
      .execute()
    if (retired.length > 0) {
      const ids = retired.map(({ id }) => id)
      await trx.deleteFrom('chunks').where('account_id', '=', accountId).where('id', 'in', ids).execute()
    }
    return lost.length > 0 || retired.length > 0
  })
}
