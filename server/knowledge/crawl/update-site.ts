import type { Context } from '../../context.ts'
import { json } from '../../db/json.ts'
import { transact } from '../../db/transact.ts'
import { refuseInvalid } from '../../http/validate.ts'
import type { Account } from '../add-source.ts'
import { requireSource, type SourceRow } from '../queries.ts'
import { type CrawlOptions, crawlMetadata } from './crawl-source.ts'
import { enqueueCrawl } from './enqueue-crawl.ts'
import { checkPatterns } from './path-rules.ts'

const OPTIONS: readonly string[] = ['excludePaths', 'includeOnlyPaths', 'slowScraping']

/** Other options for a website: it is crawled again with them, while what is live answers. */
export async function updateSite(
  { db, jobs }: Pick<Context, 'db' | 'jobs'>,
  account: Account,
  { agentId, sourceId }: { agentId: string; sourceId: string },
  change: Partial<CrawlOptions>,
): Promise<SourceRow> {
  const strange = Object.keys(change).filter((field) => !OPTIONS.includes(field))
  refuseInvalid(Object.fromEntries(strange.map((field) => [field, `A website has no ${field}.`])))
  checkPatterns(change)
  return transact(db, async (trx) => {
    const row = await requireSource(trx, account.id, agentId, sourceId, true)
    const before = crawlMetadata(row)
    const metadata = { ...before, ...change }
    if (JSON.stringify(metadata) === JSON.stringify(before)) return row
    await trx
      .updateTable('sources')
      .set({ metadata: json(metadata) })
      .where('account_id', '=', account.id)
      .where('id', '=', sourceId)
      .execute()
    await enqueueCrawl(jobs, trx, { sourceId, reason: 'changed' })
    return requireSource(trx, account.id, agentId, sourceId)
  })
}
