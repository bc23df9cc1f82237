import { type RawBuilder, type SelectQueryBuilder, type SqlBool, sql } from 'kysely'
import type { Db } from '../../platform/db/database.ts'
import type { Tables } from '../../platform/db/tables/tables.ts'
import type { Position } from '../../platform/http/pagination.ts'
import type { SourceRow } from './queries.ts'

/** True for a chunk that is live when `live` is the live version of its source. */
export const isLiveChunk = (live: number | RawBuilder<unknown>) => sql<SqlBool>`
  chunks.version <= ${live} and (chunks.retired_in is null or chunks.retired_in > ${live})
  and not exists (select from pages where pages.id = chunks.page_id and pages.hidden)`

export type LiveChunk = Awaited<ReturnType<ReturnType<typeof readLiveChunks>['execute']>>[number]

const choicesOfChunk = sql`
  from passage_choices as chosen where chosen.account_id = chunks.account_id
    and chosen.source_id = chunks.source_id and chosen.vector_key = chunks.vector_key`

/** Selects what the API shows of chunks. */
export const readLiveChunks = (query: SelectQueryBuilder<Tables, 'chunks', object>) =>
  query
    .select(['id', 'ordinal', 'heading_path', 'page', 'text', 'questions', 'url', 'title', 'page_id'])
    .select(['vector_key'])
    .select(sql<boolean>`exists (select ${choicesOfChunk} and chosen.question is null)`.as('excluded'))
    .select(
      sql<string[]>`array(select chosen.question ${choicesOfChunk} and chosen.question is not null
        order by chosen.id)`.as('pinned_for'),
    )

/** Returns what the API shows of a chunk. */
export const presentChunk = (row: LiveChunk) => ({
  id: row.id,
  ordinal: row.ordinal,
  headingPath: row.heading_path,
  page: row.page,
  text: row.text,
  questions: row.questions ?? [],
  pageId: row.page_id,
  title: row.title,
  url: row.url,
  excluded: row.excluded,
  pinnedFor: row.pinned_for,
})

/** Returns up to `limit` + 1 of the live chunks of a source, and their total number. */
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
  const rows = await readLiveChunks(query)
    .orderBy('ordinal')
    .orderBy('id')
    .limit(limit + 1)
    .execute()
  return { rows, total }
}
