import { holdAgent } from '../../../agents/records/find-agent.ts'
import type { Context } from '../../../context.ts'
import type { Trx } from '../../../platform/db/database.ts'
import { ownRow, type SourceRef } from '../../../platform/db/refs.ts'
import { json } from '../../../platform/db/statements/json.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import { invalidField } from '../../../platform/http/errors.ts'
import { requireChangeable, requireSource, type SourceRow } from '../../sources/queries.ts'
import { crawlMetadata, isCrawl, isProcessing } from '../run/crawl-source.ts'
import { enqueueCrawl } from '../run/enqueue-crawl.ts'
import { pausedSentence } from './open-watch.ts'

/**
 * Reads addresses that a crawl has left out because they seem to be without end, now and in later crawls. Throws
 * SOURCE_NOT_FOUND, SOURCE_PENDING_DELETION, VALIDATION_INVALID_BODY.
 */
export function readOn(
  { db, jobs }: Pick<Context, 'db' | 'jobs'>,
  ref: SourceRef,
  addresses: string,
): Promise<SourceRow> {
  const { accountId, sourceId } = ref
  return transact(db, async (trx) => {
    await holdAgent(trx, ref)
    const row = await requireChangeable(trx, ref, true)
    const metadata = crawlMetadata(row)
    const one = isCrawl(row) && metadata.paused?.find((paused) => paused.addresses === addresses)
    if (!one)
      throw invalidField('addresses', 'No such addresses are paused: see metadata.paused of the source.')
    metadata.children.excluded -= await releasePages(trx, ref, pausedSentence(one))
    const paused = metadata.paused?.filter((other) => other !== one)
    const change = { ...metadata, paused, readOn: [...(metadata.readOn ?? []), addresses] }
    await trx
      .updateTable('sources')
      .set({ metadata: json(change) })
      .where(ownRow(accountId, sourceId))
      .execute()
    // A running crawl reads them as well.
    if (!isProcessing(row)) await enqueueCrawl(jobs, trx, { accountId, sourceId, reason: 'page' })
    return requireSource(trx, ref)
  })
}

/** Makes the pages that were left out for a reason wait again, and returns their number. */
async function releasePages(trx: Trx, { accountId, sourceId }: SourceRef, reason: string): Promise<number> {
  const { numUpdatedRows } = await trx
    .updateTable('pages')
    .set({ status: 'pending', error: null, crawled_in: 0 })
    .where('account_id', '=', accountId)
    .where('source_id', '=', sourceId)
    .where('status', '=', 'excluded')
    .where('hidden', '=', false)
    .where('error', '=', reason)
    .executeTakeFirst()
  return Number(numUpdatedRows)
}
