import { sql } from 'kysely'
import type { Db } from '../../../platform/db/database.ts'
import type { AccountId } from '../../../platform/db/tables/columns.ts'
import type { Position } from '../../../platform/http/pagination.ts'
import { requireRow } from '../../../platform/http/require-row.ts'
import type { PageRow, PageStatus } from './page-row.ts'

/** Returns the source's page. Throws RESOURCE_NOT_FOUND. */
export async function requirePage(
  db: Db,
  accountId: AccountId,
  sourceId: string,
  pageId: string,
): Promise<PageRow> {
  return requireRow(
    db.selectFrom('pages').selectAll().where('account_id', '=', accountId).where('source_id', '=', sourceId),
    pageId,
    'The source has no such page.',
  )
}

/** Returns up to `limit` + 1 rows in the order in which the pages were found, and the number of matches. */
export async function listPageRows(
  db: Db,
  accountId: AccountId,
  { sourceId, status }: { sourceId: string; status: PageStatus | null },
  { limit, position }: { limit: number; position: Position | null },
): Promise<{ rows: PageRow[]; total: number }> {
  const pages = db
    .selectFrom('pages')
    .where('account_id', '=', accountId)
    .where('source_id', '=', sourceId)
    .$if(status !== null, (query) =>
      query.where(sql<string>`case when hidden then 'excluded' else status end`, '=', status ?? ''),
    )
  const { total } = await pages.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
  const rows = await pages
    .selectAll()
    .$if(position !== null, (query) => query.where('number', '>', Number(position?.value)))
    .orderBy('number')
    .limit(limit + 1)
    .execute()
  return { rows, total }
}
