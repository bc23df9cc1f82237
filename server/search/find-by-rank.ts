import { sql } from 'kysely'
import type { Db } from '../db/database.ts'
import type { AccountId } from '../db/tables.ts'
import { dayOf, spanFacets } from './facets.ts'
import { activeIn, createdIn } from './find-by-activity.ts'
import type { Term } from './parse-query.ts'
import type { Filters } from './read-filters.ts'
import { facetsQuery, rankQuery, termsQuery } from './ts-text.ts'

/** Days of creation, both included, whose conversations are ranked among each other. */
export type Span = { from: string; until: string }
export type Ranked = { id: string; rank: number }
/** Where a page ended: after a row of a span, or (`after: null`) before the first row of the days until a day. */
export type RankPosition = { until: string; from: string | null; after: Ranked | null }

type Day = { day: string; n: number }

/** How far a page looks. */
export type Reach = {
  /** Conversations that the first attempt covers. */
  firstSpan: number
  /** Hits that are enough to rank. */
  enough: number
  /** Past this time (milliseconds) the page ends with what it has; the next one goes on. */
  patience: number
}

export const usualReach: Reach = { firstSpan: 2_000, enough: 200, patience: 150 }

/**
 * The best hits first. A word that half of the conversations hold would be ranked a million times, so the hits
 * of the newest conversations are ranked first, as many days as it takes to have a few hundred hits (for most
 * queries that is all of them), then those of the days before. `next` is null after the last.
 */
export async function findByRank(
  db: Db,
  accountId: AccountId,
  filters: Filters,
  terms: Term[],
  page: { limit: number; position: RankPosition | null },
  reach = usualReach,
): Promise<{ rows: Ranked[]; next: RankPosition | null }> {
  const rows: Ranked[] = []
  const days = await daysOf(db, accountId, filters)
  const until = performance.now() + reach.patience
  let position = page.position
  do {
    const left = position ? days.filter(({ day }) => day <= (position?.until ?? day)) : days
    if (left.length === 0) return { rows, next: null }
    const wanted = page.limit - rows.length
    const { span, found } =
      position?.from && position.after
        ? await again(db, accountId, filters, terms, { ...position, from: position.from }, wanted)
        : await nextSpan(db, accountId, filters, terms, left, wanted, { ...reach, until })
    rows.push(...found.slice(0, wanted))
    const last = rows.at(-1)
    if (found.length > wanted && last) return { rows, next: { ...span, after: last } }
    position = { until: dayBefore(span.from), from: null, after: null }
    if (!days.some(({ day }) => day < span.from)) return { rows, next: null }
  } while (rows.length < page.limit && performance.now() < until)
  return { rows, next: position }
}

/** Days with conversations, newest first. */
async function daysOf(db: Db, accountId: AccountId, { agentId, createdFrom, createdUntil }: Filters) {
  const { rows } = await sql<Day>`
    select day::text as day, sum(n)::int as n from conversation_counts
    where account_id = ${accountId} and agent_id = ${agentId} and user_id = ''
      and day >= ${dayOf(createdFrom)}::date and day <= ${createdUntil ? dayOf(createdUntil) : 'infinity'}::date
    group by day having sum(n) > 0 order by day desc`.execute(db)
  return rows
}

async function again(
  ...[db, accountId, filters, terms, { from, until, after }, limit]: [
    Db,
    AccountId,
    Filters,
    Term[],
    RankPosition & { from: string },
    number,
  ]
): Promise<{ span: Span; found: Ranked[] }> {
  const span = { from, until }
  const { found } = await rankedIn(db, accountId, filters, terms, { span, days: null, after, limit })
  return { span, found }
}

/** Widens the span until it has enough hits, holds all days, or has taken its time. */
async function nextSpan(
  ...[db, accountId, filters, terms, days, limit, { firstSpan, enough, until }]: [
    Db,
    AccountId,
    Filters,
    Term[],
    Day[],
    number,
    Reach & { until: number },
  ]
): Promise<{ span: Span; found: Ranked[] }> {
  const all = days.reduce((sum, { n }) => sum + n, 0)
  for (let size = firstSpan; ; ) {
    const begun = performance.now()
    const span = spanOf(days, size)
    const isAll = span.from === days.at(-1)?.day
    const ranked = { span, days: isAll ? null : span, after: null, limit }
    const { found, matches } = await rankedIn(db, accountId, filters, terms, ranked)
    const now = performance.now()
    // What the wider span will cost, going by this one.
    const affordable = (size * (until - now)) / Math.max(now - begun, 1)
    if (isAll || matches >= enough || affordable < size * 2) return { span, found }
    size = Math.min(affordable, Math.max((size * enough * 2) / (matches + 1), size * 4))
    if (size > all / 4 && affordable >= all) size = all
  }
}

function spanOf(days: Day[], size: number): Span {
  let sum = 0
  const last = days.find(({ n }) => {
    sum += n
    return sum >= size
  })
  return { from: (last ?? (days.at(-1) as Day)).day, until: (days[0] as Day).day }
}

type Asked = { span: Span; days: Span | null; after: Ranked | null; limit: number }

async function rankedIn(
  ...[db, accountId, filters, terms, { span, days, after, limit }]: [Db, AccountId, Filters, Term[], Asked]
): Promise<{ found: Ranked[]; matches: number }> {
  const groups = [...filters.groups, ...(days ? [spanFacets(days.from, days.until)] : [])]
  const beyond = after ? sql`(rank, id) < (${after.rank}::float8, ${after.id}::uuid)` : sql`true`
  const { rows } = await sql<Ranked & { matches: number }>`
    with matching as materialized (
      select conversation_id as id, ts_rank(words, ${rankQuery(terms)}::tsquery, 1)::float8 as rank
      from conversation_search
      where facets @@ ${facetsQuery(groups)}::tsquery and words @@ ${termsQuery(terms)}::tsquery
        and account_id = ${accountId} and agent_id = ${filters.agentId}
        and ${createdIn(filters)} and ${activeIn(filters)}
        and created_at >= ${span.from}::date::timestamp at time zone 'UTC'
        and created_at < (${span.until}::date + 1)::timestamp at time zone 'UTC'
    )
    select id, rank, (select count(*) from matching)::int as matches from matching where ${beyond}
    order by rank desc, id desc limit ${limit + 1}`.execute(db)
  return { found: rows.map(({ id, rank }) => ({ id, rank })), matches: rows[0]?.matches ?? 0 }
}

const dayBefore = (day: string): string => dayOf(new Date(Date.parse(`${day}T00:00:00.000Z`) - 86_400_000))
