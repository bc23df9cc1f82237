import type { Trx } from '../../../platform/db/database.ts'
import type { CrawlRun } from '../run/crawl-run.ts'
import type { PageRow } from './page-row.ts'

/**
 * Stores in one statement that pages are unchanged, as most are in a later crawl. Returns their ids. A page that may
 * have the same text as another one is left for a separate step.
 */
export async function storeUnchanged(trx: Trx, run: CrawlRun, pages: PageRow[]): Promise<Set<string>> {
  const plain = pages.filter(({ status, hidden }) => status === 'included' && !hidden)
  const hashes = plain.map(({ content_hash }) => content_hash)
  if (new Set(hashes).size < hashes.length || plain.length === 0) return new Set()
  const twins = await trx
    .selectFrom('pages')
    .select('content_hash')
    .where('account_id', '=', run.account.id)
    .where('source_id', '=', run.sourceId)
    .where('content_hash', 'in', hashes)
    .where('status', '=', 'included')
    .where('crawled_in', '=', run.version)
    .execute()
  const taken = new Set(twins.map(({ content_hash }) => content_hash))
  const ids = plain.filter(({ content_hash }) => !taken.has(content_hash)).map(({ id }) => id)
  if (ids.length === 0) return new Set()
  await trx
    .updateTable('pages')
    .set({ error: null, crawled_in: run.version, fetched_at: new Date(), holder: null, held_until: null })
    .where('account_id', '=', run.account.id)
    .where('id', 'in', ids)
    .execute()
  return new Set(ids)
}
