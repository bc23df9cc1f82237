import { sql } from 'kysely'
import type { Db } from '../../db/database.ts'
import type { AgentRef } from '../../db/refs.ts'
import type { AccountId } from '../../db/tables/columns.ts'
import type { DateRange } from '../../http/input/dates.ts'
import { PLAYGROUND } from './sources.ts'

const DAY_MS = 86_400_000

/** The user of an agent's own rows in conversation_counts. */
const NOBODY = ''

/**
 * How many conversations of these sources (null: all but the playground) were created in the range: whole days by the maintained
 * counts, what is left of a day at either end by its index.
 */
export async function conversationTotal(
  db: Db,
  accountId: AccountId,
  { agentId, sources, from, until }: { agentId: string; sources: string[] | null } & DateRange,
): Promise<number> {
  const { firstDay, endDay, rests } = splitRange({ from, until })
  const ofSources = sources ? sql`source = any(${sources}::text[])` : sql`source <> ${PLAYGROUND}`
  const counts = rests.map(
    (
      rest,
    ) => sql`(select count(*) from conversations where account_id = ${accountId} and agent_id = ${agentId}
      and ${ofSources} and not transient and created_at between ${rest.from} and ${rest.until})`,
  )
  const { rows } = await sql<{ total: number }>`
    select ${sql.join(
      [
        sql`(select coalesce(sum(n), 0) from conversation_counts where account_id = ${accountId}
          and agent_id = ${agentId} and user_id = ${NOBODY} and ${ofSources}
          and day >= ${firstDay}::date and day < ${endDay}::date)`,
        ...counts,
      ],
      sql` + `,
    )} as total`.execute(db)
  return Number(rows[0]?.total ?? 0)
}

/** How many conversations a user has from a source. */
export async function userTotal(
  db: Db,
  accountId: AccountId,
  { agentId, userId, source }: { agentId: string; userId: string; source: string },
): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select coalesce(sum(n), 0)::int as total from conversation_counts
    where account_id = ${accountId} and agent_id = ${agentId} and user_id = ${userId} and source = ${source}
      and day is null`.execute(db)
  return rows[0]?.total ?? 0
}

/** The sources that an agent has conversations of customers from. */
export async function sourcesOf(db: Db, { accountId, agentId }: AgentRef): Promise<string[]> {
  const { rows } = await sql<{ source: string }>`
    select distinct source from conversation_counts
    where account_id = ${accountId} and agent_id = ${agentId} and user_id = ${NOBODY}
      and source <> ${PLAYGROUND}`.execute(db)
  return rows.map(({ source }) => source)
}

type Rest = { from: Date; until: Date }

/** Whole UTC days from `firstDay` to before `endDay`, and the parts of days before and after them. */
function splitRange({ from, until }: DateRange): { firstDay: string; endDay: string; rests: Rest[] } {
  const end = until ? until.getTime() + 1 : Number.POSITIVE_INFINITY
  const first = from ? Math.ceil(from.getTime() / DAY_MS) * DAY_MS : Number.NEGATIVE_INFINITY
  const last = until ? Math.floor(end / DAY_MS) * DAY_MS : end
  const rests: Rest[] = []
  if (from && until && first > last) rests.push({ from, until })
  else {
    if (from && first > from.getTime()) rests.push({ from, until: new Date(first - 1) })
    if (until && last < end) rests.push({ from: new Date(last), until })
  }
  return { firstDay: dayText(first), endDay: dayText(Math.max(first, last)), rests }
}

const dayText = (time: number): string =>
  Number.isFinite(time) ? new Date(time).toISOString().slice(0, 10) : time < 0 ? '-infinity' : 'infinity'
