import { type SqlBool, sql } from 'kysely'
import type { Db } from '../../db/database.ts'
import type { Position } from '../../http/pagination.ts'
import type { SourceRow } from './queries.ts'

/** True for a chunk that answers use when `live` is the live version of its source. */
export const isLiveChunk = (live: number) => sql<SqlBool>`
  chunks.version <= ${live} and (chunks.retired_in is null or chunks.retired_in > ${live})
  and not exists (select from pages where pages.id = chunks.page_id and pages.hidden)`

/** Returns up to `limit` + 1 of the chunks that answers currently use, and their total number. */
export async function liveChunks(
  db: Db,
  { id, account_id, live_version }: SourceRow,
  pageId: string | null,
  { limit, position }: { limit: number; position: Position | null },
) {
  const live = live_version ?? 0
  let query = db
    .selectFrom('chunks')
    .where('account_id', '=', account_id)
    .where('source_id', '=', id)
    .where(isLiveChunk(live))
  if (pageId !== null) query = query.where('page_id', '=', pageId)
  const { total } = await query.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
  if (position)
    query = query.where(sql<SqlBool>`(ordinal, id) > (${Number(position.value)}::int, ${position.id}::uuid)`)
  const rows = await query
    .select(['id', 'ordinal', 'heading_path', 'page', 'text', 'questions', 'url', 'title', 'page_id'])
    .orderBy('ordinal')
    .orderBy('id')
    .limit(limit + 1)
    .execute()
  return { rows, total }
}
