import { sql } from 'kysely'
import { dayOf } from './facets.ts'
import { type Ranked, type RankQuery, rankSpan, type Span } from './rank-span.ts'

/** The end of a page: after a row of a span, or (`after: null`) before the first row of the days up to `until`. */
export type RankPosition = { until: string; from: string | null; after: Ranked | null }

/** How much a page examines. */
export type Reach = {
  /** The number of conversations of the first span. */
  firstSpan: number
  /** The number of hits that are enough to rank. For phrases, whose rows are checked one by one, one page is enough. */
  enough: number
  /** After this time in milliseconds, the page ends with the hits found so far, and the next page continues. */
  patience: number
}

export const usualReach: Reach = { firstSpan: 2_000, enough: 200, patience: 150 }

type Day = { day: string; n: number }

/**
 * Returns the best hits first. Ranking a word that half of the conversations contain would rank a million rows. So the
 * newest days that together have a few hundred hits are ranked first (for most queries, that covers everything), then
 * the days before. `next` is null at the end.
 */
export async function findByRank(
  wanted: RankQuery,
  page: { limit: number; position: RankPosition | null },
  reach = usualReach,
): Promise<{ rows: Ranked[]; next: RankPosition | null }> {
  const rows: Ranked[] = []
  const days = await daysOf(wanted)
  const end = performance.now() + reach.patience
  const hasPhrase = wanted.terms.some((term) => term.length > 1)
  const enough = hasPhrase ? Math.min(page.limit + 1, reach.enough) : reach.enough
  let { position } = page
  do {
    const until = position?.until
    const left = until === undefined ? days : days.filter(({ day }) => day <= until)
    if (left.length === 0) return { rows, next: null }
    const limit = page.limit - rows.length
    const { span, found } = position?.from
      ? await continueSearch(
          wanted,
          spanOf(left, ({ day }) => day <= (position?.from ?? day)),
          position.after,
          limit,
        )
      : await nextSpan(wanted, left, limit, { ...reach, enough, end })
    rows.push(...found.slice(0, limit))
    const last = rows.at(-1)
    if (found.length > limit && last)
      return { rows, next: { until: span.until, from: span.from, after: last } }
    if (span.from === days.at(-1)?.day) return { rows, next: null }
    position = { until: dayBefore(span.from), from: null, after: null }
  } while (rows.length < page.limit && performance.now() < end)
  return { rows, next: position }
}

/** Returns the days with conversations, newest first. */
async function daysOf({ db, accountId, filters }: RankQuery): Promise<Day[]> {
  const { agentId, createdFrom, createdUntil } = filters
  const { rows } = await sql<Day>`
    select day::text as day, sum(n)::int as n from conversation_counts
    where account_id = ${accountId} and agent_id = ${agentId} and user_id = ''
      and day >= ${dayOf(createdFrom)}::date and day <= ${createdUntil ? dayOf(createdUntil) : 'infinity'}::date
    group by day having sum(n) > 0 order by day desc`.execute(db)
  return rows
}

async function continueSearch(
  wanted: RankQuery,
  span: Span,
  after: Ranked | null,
  limit: number,
): Promise<{ span: Span; found: Ranked[] }> {
  const { found } = await rankSpan(wanted, span, { after, limit })
  return { span, found }
}

/** Widens the span until it has enough hits, covers all days, or has run out of time. */
async function nextSpan(
  wanted: RankQuery,
  days: Day[],
  limit: number,
  { firstSpan, enough, end }: Reach & { end: number },
): Promise<{ span: Span; found: Ranked[] }> {
  const all = days.reduce((sum, { n }) => sum + n, 0)
  for (let size = firstSpan; ; ) {
    const begun = performance.now()
    let sum = 0
    const span = spanOf(days, ({ n }) => {
      sum += n
      return sum >= size
    })
    const { found, matches } = await rankSpan(wanted, span, { after: null, limit })
    const now = performance.now()
    // Estimates the cost of a wider span from this one.
    const affordable = (span.size * (end - now)) / Math.max(now - begun, 1)
    if (span.from === days.at(-1)?.day || matches >= enough || affordable < span.size * 2)
      return { span, found }
    const expected = Math.max((span.size * enough * 2) / (matches + 1), span.size * 4)
    size = Math.min(affordable, expected > all / 4 ? all : expected)
  }
}

/** Returns the span from the newest day to the first one for which `isLast` is true. */
function spanOf(days: Day[], isLast: (day: Day) => boolean): Span {
  const at = days.findIndex(isLast)
  const inside = at === -1 ? days : days.slice(0, at + 1)
  return {
    from: (inside.at(-1) as Day).day,
    until: (inside[0] as Day).day,
    size: inside.reduce((sum, { n }) => sum + n, 0),
  }
}

const dayBefore = (day: string): string => dayOf(new Date(Date.parse(`${day}T00:00:00.000Z`) - 86_400_000))
