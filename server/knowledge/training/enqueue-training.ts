import type { Trx } from '../../platform/db/database.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import { isCrawl } from '../crawl/run/crawl-source.ts'
import { enqueueCrawl } from '../crawl/run/enqueue-crawl.ts'
import type { SourceRow } from '../sources/queries.ts'

/** The background job that makes this version of a source live, or does nothing when there is a newer one. */
export const TRAIN_SOURCE = 'train-source'

export type TrainSource = { sourceId: string; version: number }

/**
 * Enqueues the job that makes a source's current version live: a crawl for a website, a training for anything else.
 */
export async function enqueueTraining(
  jobs: Pick<Jobs, 'enqueue'>,
  trx: Trx,
  row: Pick<SourceRow, 'id' | 'account_id' | 'link_type' | 'content_version'>,
  reason: 'created' | 'resumed' = 'created',
): Promise<void> {
  if (isCrawl(row)) await enqueueCrawl(jobs, trx, { accountId: row.account_id, sourceId: row.id, reason })
  else {
    const payload = { sourceId: row.id, version: row.content_version }
    await jobs.enqueue<TrainSource>(trx, TRAIN_SOURCE, payload, 0, row.account_id)
  }
}
