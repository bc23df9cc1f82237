import type { Trx } from '../../../db/database.ts'
import { newId } from '../../../db/ids.ts'
import { json } from '../../../db/statements/json.ts'
import { storable } from '../../../http/bodies/storable.ts'
import { vectorKey } from '../../training/embed-chunks.ts'
import type { CrawlRun } from '../run/crawl-run.ts'
import type { PageContent } from './page-outcome.ts'
import type { PageRow } from './page-row.ts'

const ROWS_AN_INSERT = 200

/** Retires the chunks: they are used until this crawl goes live. */
export async function retireChunks(trx: Trx, run: CrawlRun, pageIds: string[]): Promise<void> {
  await trx
    .updateTable('chunks')
    .set({ retired_in: run.version })
    .where('account_id', '=', run.account.id)
    .where('page_id', 'in', pageIds)
    .where('retired_in', 'is', null)
    .execute()
}

/** Adds chunks that are used from when this crawl goes live. */
export async function insertChunks(
  trx: Trx,
  run: CrawlRun,
  page: PageRow,
  { title, chunks }: PageContent,
): Promise<void> {
  for (let from = 0; from < chunks.length; from += ROWS_AN_INSERT) {
    await trx
      .insertInto('chunks')
      .values(
        chunks.slice(from, from + ROWS_AN_INSERT).map((chunk, place) => ({
          id: newId(),
          account_id: run.account.id,
          agent_id: run.agentId,
          source_id: run.sourceId,
          version: run.version,
          ordinal: from + place,
          heading_path: json(chunk.headingPath.map(storable)),
          page: chunk.page,
          text: storable(chunk.text),
          questions: json(null),
          vector_key: vectorKey(chunk),
          page_id: page.id,
          url: page.url,
          title: storable(title),
          anchor: chunk.anchor === undefined ? null : storable(chunk.anchor),
        })),
      )
      .execute()
  }
}
