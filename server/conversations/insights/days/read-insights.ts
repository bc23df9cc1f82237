import { type Selectable, sql } from 'kysely'
import type { Static } from 'typebox'
import type { Db } from '../../../platform/db/database.ts'
import { type AgentRef, ofAgent } from '../../../platform/db/refs.ts'
import type { InsightDaysTable } from '../../../platform/db/tables/insights.ts'
import { topicsOf } from '../topics/queries.ts'
import { addUp, figuresOf, NO_FIGURES } from './figures.ts'
import type { Insights } from './schema.ts'

type DayRow = Selectable<InsightDaysTable>

const TOPICS = 10

/** Returns the figures of consecutive days (YYYY-MM-DD), including days without a row. */
export async function readInsights(
  db: Db,
  ref: AgentRef,
  days: readonly string[],
): Promise<Static<typeof Insights>> {
  const [first = '', last = ''] = [days[0], days.at(-1)]
  const rows = await db
    .selectFrom('insight_days')
    .selectAll()
    .select(sql<string>`to_char(day, 'YYYY-MM-DD')`.as('date'))
    .where(ofAgent(ref))
    .where('day', '>=', sql<string>`${first}::date`)
    .where('day', '<=', sql<string>`${last}::date`)
    .execute()
  const byDay = new Map<string, DayRow>(rows.map((row) => [row.date, row]))
  const total = addUp(rows)
  const known = new Map((await topicsOf(db, ref)).map(({ id, name }) => [id, name]))
  const shown = Object.entries(total.topics)
    .filter(([id]) => known.has(id))
    .sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1))
    .slice(0, TOPICS)
    .map(([id]) => ({ id, name: known.get(id) ?? '' }))
  return {
    startDate: first,
    endDate: last,
    isCurrent: rows.every(({ is_stale }) => !is_stale),
    totals: figuresOf(total, shown),
    days: days.map((date) => ({ date, ...figuresOf(byDay.get(date) ?? NO_FIGURES, shown) })),
  }
}
