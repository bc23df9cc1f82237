import { planOf } from '../../../accounts/plans/plans.ts'
import { holdAgent } from '../../../agents/records/find-agent.ts'
import type { Db, Trx } from '../../../db/database.ts'
import { newId } from '../../../db/ids.ts'
import { json } from '../../../db/statements/json.ts'
import { transact } from '../../../db/statements/transact.ts'
import type { AccountId } from '../../../db/tables/columns.ts'
import type { CrawlState } from '../../../db/tables/knowledge.ts'
import type { SourceRow } from '../../sources/queries.ts'
import { type PathRules, pathRules } from '../site/path-rules.ts'
import { type Site, siteOf } from '../site/site.ts'
import { type CrawlMetadata, crawlMetadata, isProcessing } from './crawl-source.ts'
import type { CrawlSite } from './enqueue-crawl.ts'

/** Pages of one source, whatever the plan says. */
const MOST_PAGES = 10_000

export const pageLimit = (plan: string): number => Math.min(planOf(plan).pages ?? MOST_PAGES, MOST_PAGES)

/** One process's part in a crawl. */
export type CrawlRun = {
  sourceId: string
  version: number
  account: { id: AccountId; plan: string }
  agentId: string
  type: CrawlMetadata['type']
  start: URL
  site: Site
  rules: PathRules
  slow: boolean
  /** The first pages are in. */
  seeded: boolean
  /** Pages that may be included. */
  limit: number
  /** Names this run among others of the same crawl. */
  holder: string
  /** Numbers of the pages known to be found by this crawl, by URL. */
  found: Map<string, number>
  /** Numbers of pages that are known to be marked as found. */
  marked: Set<number>
}

/** The source's row under lock: members that a step changes are written back at its end. */
export type LockedSource = { row: SourceRow; state: CrawlState; metadata: CrawlMetadata; size: number }

/** The crawl that a job is about, or null when it is over, begun anew, or gone on with by another chain. */
export async function openRun(db: Db, { sourceId, version, chain }: CrawlSite): Promise<CrawlRun | null> {
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
  const { type, slowScraping, ...patterns } = crawlMetadata(source)
  const start = new URL(source.url ?? '')
  return {
    sourceId,
    version,
    account: { id: source.account_id, plan: source.plan },
    agentId: source.agent_id,
    type,
    start,
    site: siteOf(start, type),
    rules: pathRules(patterns),
    slow: slowScraping,
    seeded: source.crawl?.seeded ?? false,
    limit: pageLimit(source.plan),
    holder: newId(),
    found: new Map(),
    marked: new Set(),
  }
}

/**
 * One step of a crawl in a transaction that holds the source's row, so that steps of all processes follow each
 * other. Answers null, having done nothing, when the crawl is over, begun anew, or its source deleted. A step that
 * moves the agent's knowledge holds the agent as well.
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
