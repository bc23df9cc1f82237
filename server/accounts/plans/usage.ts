import { sql } from 'kysely'
import type { Db } from '../../platform/db/database.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { ApiError, invalidField } from '../../platform/http/errors.ts'
import { monthOf, type Range } from './credits.ts'

const DAY_MS = 86_400_000
const USUAL_DAYS = 30
const MAX_DAYS = 92
const FIRST = Date.UTC(2020, 0)

/**
 * Returns the first and the last day requested, both included. Throws VALIDATION_INVALID_DATE_RANGE, and
 * VALIDATION_INVALID_BODY for too many days.
 */
export function usageRange(
  { startDate, endDate }: { startDate?: string; endDate?: string },
  now = new Date(),
): Range {
  const today = Date.parse(now.toISOString().slice(0, 10))
  const last = endDate === undefined ? today : Date.parse(endDate)
  const first = startDate === undefined ? last - (USUAL_DAYS - 1) * DAY_MS : Date.parse(startDate)
  if (first > last) throw new ApiError('VALIDATION_INVALID_DATE_RANGE')
  if ((last - first) / DAY_MS >= MAX_DAYS)
    throw invalidField('startDate', `Must be at most ${MAX_DAYS} days before the end.`)
  // There are no entries before or after these days, and the database has no year 0.
  return {
    first: new Date(Math.max(first, FIRST)),
    last: new Date(Math.max(Math.min(last, today), FIRST - DAY_MS)),
  }
}

type Used = { day: string; agent_id: string | null; name: string | null; replies: number; credits: number }

/**
 * Returns the credits used according to the ledger, by day and agent, oldest first. `only` restricts them to those
 * agents.
 */
export async function creditsByDay(
  db: Db,
  accountId: AccountId,
  { first, last }: Range,
  only: string[] | null,
): Promise<Used[]> {
  const months: string[] = []
  // The index is by month, and an entry from the first minute of a month may be filed under the month before.
  for (let at = first.getTime() - DAY_MS; at <= last.getTime() + DAY_MS; at += DAY_MS) {
    const month = monthOf(new Date(at))
    if (months.at(-1) !== month) months.push(month)
  }
  const { rows } = await sql<Used>`
    select to_char(e.created_at at time zone 'UTC', 'YYYY-MM-DD') as day, e.agent_id, agents.name,
      count(*)::int as replies, sum(e.amount)::int as credits
    from credit_entries as e left join agents on agents.id = e.agent_id and agents.account_id = e.account_id
    where e.account_id = ${accountId} and e.month = any(${months}::text[])
      and e.kind = 'usage' and e.state <> 'released'
      and e.created_at >= ${first} and e.created_at < ${new Date(last.getTime() + DAY_MS)}
      and (${only}::text[] is null or e.agent_id = any(${only}::text[]))
    group by 1, 2, 3 order by 1, 2`.execute(db)
  return rows
}
