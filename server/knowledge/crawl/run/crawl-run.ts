import { planOf } from '../../../accounts/plans/plans.ts'
import { holdAgent } from '../../../agents/records/find-agent.ts'
import type { Context } from '../../../context.ts'
import type { Db, Trx } from '../../../platform/db/database.ts'
import { newId } from '../../../platform/db/ids.ts'
import { json } from '../../../platform/db/statements/json.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import type { AccountId } from '../../../platform/db/tables/columns.ts'
import type { CrawlState, SiteBlocks } from '../../../platform/db/tables/knowledge.ts'
import type { SourceRow } from '../../sources/queries.ts'
import { settleUrl } from '../../sources/settle-url.ts'
import type { PageOutcome, Sent } from '../pages/page-outcome.ts'
import { type PathRules, pathRules } from '../site/path-rules.ts'
import { type Site, siteOf } from '../site/site.ts'
import { type CrawlMetadata, crawlMetadata, isProcessing } from './crawl-source.ts'
import type { CrawlSite } from './enqueue-crawl.ts'

/** The most pages of one source in any plan. */
const MAX_PAGES = 10_000

export const pageLimit = (plan: string): number => Math.min(planOf(plan).pages ?? MAX_PAGES, MAX_PAGES)

/** The part of one process in a crawl. */
export type CrawlRun = {
  sourceId: string
  version: number
  account: { id: AccountId; plan: string }
  agentId: string
  type: CrawlMetadata['type']
  start: URL
  site: Site
  rules: PathRules
  /** Whether nothing of the pages is left out. */
  wholePage: boolean
  /** What was sent for pages that were read ahead, by URL. */
  sent: Map<string, Sent | PageOutcome>
  /** What the pages repeat, from when it is known. */
  blocks: SiteBlocks | null
  slow: boolean
  /** Whether the first pages have been added. */
  seeded: boolean
  /** Whether pages of this crawl are known to be live. */
  isLive: boolean
  /** The number of pages that may be included. */
  limit: number
  /** Identifies this run among others of the same crawl. */
  holder: string
  /** The numbers of the pages that this crawl is known to have found, by URL. */
  found: Map<string, number>
  /** The numbers of the pages that are known to be marked as found. */
  marked: Set<number>
}

/** The locked row of the source. Changed members are written at the end of the step. */
export type LockedSource = { row: SourceRow; state: CrawlState; metadata: CrawlMetadata; size: number }

/** Returns the crawl of a job, or null when it is over, was restarted, or is continued by another chain of jobs. */
export async function openRun(
  { db, fetcher }: Pick<Context, 'db' | 'fetcher'>,
  { sourceId, version, chain }: CrawlSite,
  signal: AbortSignal,
): Promise<CrawlRun | null> {
  const source = await db
    .selectFrom('sources')
    .innerJoin('accounts', 'accounts.id', 'sources.account_id')
    .selectAll('sources')
    .select('accounts.plan')
    .where('sources.id', '=', sourceId)
    .where('content_version', '=', version)
    .executeTakeFirst()
  const isCurrent = chain === null ? source?.crawl?.seeded : source?.crawl?.chain === chain
  if (!source || !isProcessing(source) || !isCurrent) return null
  const { type, slowScraping, wholePage = false, ...patterns } = crawlMetadata(source)
  const start = new URL(await settleUrl({ db, fetcher }, source, signal))
  return {
    sourceId,
    version,
    account: { id: source.account_id, plan: source.plan },
    agentId: source.agent_id,
    type,
    start,
    site: siteOf(start, type),
    rules: pathRules(patterns),
    wholePage,
    sent: new Map(),
    blocks: source.crawl?.blocks ?? null,
    slow: slowScraping,
    seeded: source.crawl?.seeded ?? false,
    isLive: source.live_version === version,
    limit: pageLimit(source.plan),
    holder: newId(),
    found: new Map(),
    marked: new Set(),
  }
}

/**
 * Runs a step of a crawl in a transaction that locks the source's row, so that the steps of all processes run one
 * after another. Returns null without running it when the crawl is over or was restarted, or the source was deleted.
 * A step that changes the agent's knowledge locks the agent as well.
 */
export async function step<T>(
  db: Db,
  { sourceId, agentId, version, account }: CrawlRun,
  work: (trx: Trx, source: LockedSource) => Promise<T>,
  { withAgent = false } = {},
): Promise<{ result: T } | null> {
  return transact(db, async (trx) => {
    if (withAgent) await holdAgent(trx, { accountId: account.id, agentId })
    const row = await trx
      .selectFrom('sources')
      .selectAll()
      .where('account_id', '=', account.id)
      .where('id', '=', sourceId)
      .where('content_version', '=', version)
      .forNoKeyUpdate()
      .executeTakeFirst()
    if (!row?.crawl || !isProcessing(row)) return null
    const source = { row, state: row.crawl, metadata: crawlMetadata(row), size: row.size }
    const before = JSON.stringify([source.state, source.metadata, source.size])
    const result = await work(trx, source)
    if (JSON.stringify([source.state, source.metadata, source.size]) !== before) {
      await trx
        .updateTable('sources')
        .set({ crawl: json(source.state), metadata: json(source.metadata), size: source.size })
        .where('account_id', '=', account.id)
        .where('id', '=', sourceId)
        .execute()
    }
    return { result }
  })
}
