import type { Trx } from '../../../platform/db/database.ts'
import { newId } from '../../../platform/db/ids.ts'
import { ownRow } from '../../../platform/db/refs.ts'
import { json } from '../../../platform/db/statements/json.ts'
import type { AccountId } from '../../../platform/db/tables/columns.ts'
import type { CrawlState } from '../../../platform/db/tables/knowledge.ts'
import type { Jobs } from '../../../platform/jobs/jobs.ts'
import { crawlMetadata, isCrawl, isProcessing } from './crawl-source.ts'

/**
 * One slice of a crawl. A chain of jobs, each enqueued by the one before, completes a crawl. A job without a chain
 * only helps with one slice.
 */
export const CRAWL_SITE = 'crawl-site'

export type CrawlSite = { sourceId: string; version: number; chain: string | null }

/**
 * `created`: the first crawl. `resumed`: the running crawl has lost its job. `changed`: the options have changed, so
 * a running crawl is restarted. `re-sync` and `page`: another crawl, unless one is running.
 */
type CrawlReason = 'created' | 'resumed' | 'changed' | 're-sync' | 'page'

/**
 * Starts a crawl in the caller's transaction. The live version is used until it is done. Returns false when there is
 * nothing to start, because the source does not exist or is being crawled.
 */
export async function enqueueCrawl(
  jobs: Pick<Jobs, 'enqueue'>,
  trx: Trx,
  { accountId, sourceId, reason }: { accountId: AccountId; sourceId: string; reason: CrawlReason },
): Promise<boolean> {
  const source = await trx
    .selectFrom('sources')
    .selectAll()
    .where(ownRow(accountId, sourceId))
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (!source || !isCrawl(source) || source.status === 'toBeDeleted') return false
  const goesOn = reason === 'created' || reason === 'resumed'
  if (reason !== 'changed' && isProcessing(source) !== goesOn) return false
  const version = goesOn ? source.content_version : source.content_version + 1
  const chain = newId()
  const state: CrawlState = {
    ...(source.crawl ?? { rows: 0, lastNumber: 0, nextAt: 0 }),
    ...(source.crawl?.version === version ? source.crawl : { seeded: false, failures: 0, partial: false }),
    version,
    chain,
  }
  const metadata = crawlMetadata(source)
  const paused = goesOn ? metadata.paused : metadata.paused?.map((one) => ({ ...one, count: 0 }))
  await trx
    .updateTable('sources')
    .set({
      content_version: version,
      // A first crawl stays one when it goes on, although some of its pages are live.
      status: goesOn ? source.status : source.live_version === null ? 'untrained' : 'updated',
      error: null,
      metadata: json({ ...metadata, ...(paused && { paused }), crawlStatus: 'fetching' }),
      crawl: json(state),
      ...(goesOn ? {} : { updated_at: new Date() }),
    })
    .where(ownRow(source.account_id, sourceId))
    .execute()
  await jobs.enqueue<CrawlSite>(trx, CRAWL_SITE, { sourceId, version, chain }, 0, source.account_id)
  return true
}
