import type { Context } from '../../../context.ts'
import { ownRow } from '../../../platform/db/refs.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import { enqueueCrawl } from '../../crawl/run/enqueue-crawl.ts'
import type { SourceRow } from '../../sources/queries.ts'
import { WEEK_MS } from './eligible.ts'

/** Starts a crawl, which compares its pages itself. The next one is in a week. */
export async function startCrawl(
  { db, jobs }: Pick<Context, 'db' | 'jobs'>,
  source: SourceRow,
): Promise<void> {
  await transact(db, async (trx) => {
    await enqueueCrawl(jobs, trx, { accountId: source.account_id, sourceId: source.id, reason: 're-sync' })
    await trx
      .updateTable('sources')
      .set({ next_sync_at: new Date(Date.now() + WEEK_MS) })
      .where(ownRow(source.account_id, source.id))
      .execute()
  })
}
