import { holdAgent } from '../../../agents/records/find-agent.ts'
import type { Context } from '../../../context.ts'
import { ownRow, type SourceRef } from '../../../platform/db/refs.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import { isCrawl } from '../../crawl/run/crawl-source.ts'
import { enqueueCrawl } from '../../crawl/run/enqueue-crawl.ts'
import { type TrainSource, trainingTask } from '../../training/enqueue-training.ts'
import { requireChangeable, requireSource, type SourceRow } from '../queries.ts'

/** Trains the source again, unless it is being processed. Throws SOURCE_NOT_FOUND and SOURCE_PENDING_DELETION. */
export function refreshSource(
  { db, jobs }: Pick<Context, 'db' | 'jobs'>,
  ref: SourceRef,
): Promise<SourceRow> {
  const { accountId, sourceId } = ref
  return transact(db, async (trx) => {
    await holdAgent(trx, ref)
    const row = await requireChangeable(trx, ref, true)
    if (isCrawl(row)) await enqueueCrawl(jobs, trx, { accountId, sourceId, reason: 're-sync' })
    else if (row.status === 'trained' || row.status === 'failed') {
      const version = row.content_version + 1
      await trx
        .updateTable('sources')
        .set({
          content_version: version,
          status: row.live_version === null ? 'untrained' : 'updated',
          error: null,
          updated_at: new Date(),
        })
        .where(ownRow(accountId, sourceId))
        .execute()
      await jobs.enqueue<TrainSource>(trx, trainingTask(row), { sourceId, version }, 0, accountId)
    }
    return requireSource(trx, ref)
  })
}
