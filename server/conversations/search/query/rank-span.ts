import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../../platform/db/database.ts'
import type { AccountId } from '../../../platform/db/tables/columns.ts'
import { facetsQuery, rankQuery, termsQuery } from '../index/ts-text.ts'
import { spanFacets } from './facets.ts'
import { activeIn, createdIn } from './find-by-activity.ts'
import type { Term } from './parse-query.ts'
import type { Filters } from './read-filters.ts'

/** The terms and filters of a search. */
export type RankQuery = { db: Db; accountId: AccountId; filters: Filters; terms: readonly Term[] }
/** The creation days, both ends included, whose conversations are ranked together. */
export type Span = {
  from: string
  until: string
  /** The number of conversations created in it. */
  size: number
}
export type Ranked = { id: string; rank: number }

/** Up to this number, checking conversations one by one is faster than searching the index for prefixes. */
const FEW = 6_000

/** Returns up to `limit` + 1 hits, best first, and on the first page also their number. */
export async function rankSpan(
  { db, accountId, filters, terms }: RankQuery,
  span: Span,
  { after, limit }: { after: Ranked | null; limit: number },
): Promise<{ found: Ranked[]; matches: number }> {
  const groups = [...filters.groups, spanFacets(span.from, span.until)]
  const beyond = after ? sql`(rank, id) < (${after.rank}::float8, ${after.id}::uuid)` : sql`true`
  const { rows } = await sql<Ranked & { matches: number }>`
    with matching as materialized (
      select conversation_id as id, ts_rank(words, ${rankQuery(terms)}::tsquery, 1)::float8 as rank
      from conversation_search
      where facets @@ ${facetsQuery(groups)}::tsquery and ${wordsMatch(terms, span)}
        and account_id = ${accountId} and agent_id = ${filters.agentId}
        and ${createdIn(filters)} and ${activeIn(filters)}
        and created_at >= ${span.from}::date::timestamp at time zone 'UTC'
        and created_at < (${span.until}::date + 1)::timestamp at time zone 'UTC'
    )
    select id, rank, (select count(*) from matching)::int as matches from matching where ${beyond}
    order by rank desc, id desc limit ${limit + 1}`.execute(db)
  return { found: rows.map(({ id, rank }) => ({ id, rank })), matches: rows[0]?.matches ?? 0 }
}

/**
 * For a prefix, the index reads every row of every matching word, however few are wanted (175 ms for a common one among
 * a million). In a short span, the prefix is therefore compared row by row, which calling the operator's function by
 * name achieves.
 */
function wordsMatch(terms: readonly Term[], { size }: Span): RawBuilder<boolean> {
  const begun = terms.filter((term) => term.some(({ prefixes }) => prefixes.length > 0))
  const whole = terms.filter((term) => !begun.includes(term))
  if (size > FEW || begun.length === 0) return sql<boolean>`words @@ ${termsQuery(terms)}::tsquery`
  const byRow = sql<boolean>`ts_match_vq(words, ${termsQuery(begun)}::tsquery)`
  return whole.length === 0 ? byRow : sql<boolean>`words @@ ${termsQuery(whole)}::tsquery and ${byRow}`
}
