import type { Trx } from '../../../platform/db/database.ts'
import {
  type ChunkPlace,
  compareChunks,
  insertChunks,
  moveChunks,
  retireChunks,
} from '../../training/store-chunks.ts'
import type { CrawlRun } from '../run/crawl-run.ts'
import type { PageContent } from './page-outcome.ts'
import type { PageRow } from './page-row.ts'

const ownerOf = ({ account, agentId }: CrawlRun) => ({ accountId: account.id, agentId })

/** Ends the use of all chunks of pages. */
export async function retirePages(trx: Trx, run: CrawlRun, pageIds: string[]): Promise<void> {
  const chunks = await trx
    .selectFrom('chunks')
    .select('id')
    .where('account_id', '=', run.account.id)
    .where('page_id', 'in', pageIds)
    .where('retired_in', 'is', null)
    .execute()
  const ids = chunks.map(({ id }) => id)
  await retireChunks(trx, ownerOf(run), run.version, ids)
}

/** Replaces the text of a page, in one step for whoever searches. Unchanged chunks stay. */
export async function replacePageChunks(
  trx: Trx,
  run: CrawlRun,
  { id, url }: PageRow,
  content: PageContent,
): Promise<void> {
  const page = { id, url, title: content.title }
  const place: ChunkPlace = { ...ownerOf(run), sourceId: run.sourceId, sourceName: null, page }
  const { added, moved, retired } = await compareChunks(trx, place, content.chunks)
  await retireChunks(trx, place, run.version, retired)
  await moveChunks(trx, place, moved)
  await insertChunks(trx, place, run.version, added)
}
