import { sql } from 'kysely'
import type { Db } from '../../platform/db/database.ts'
import { type AgentRef, ofAgent } from '../../platform/db/refs.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import type { DateRange } from '../../platform/http/input/dates.ts'
import { after, type Position } from '../../platform/http/pagination.ts'
import { type ConversationRow, PLAYGROUND } from './queries.ts'

type Page = { limit: number; position: Position | null }
type List = { rows: ConversationRow[]; total: number }

/** Returns up to `limit` + 1 API conversations, newest first by creation, and the number of matches. */
export async function conversationsByCreation(
  db: Db,
  accountId: AccountId,
  filter: { agentId: string } & DateRange,
  page: Page,
): Promise<List> {
  let query = fromApi(db, accountId, filter.agentId)
  if (filter.from) query = query.where('created_at', '>=', filter.from)
  if (filter.until) query = query.where('created_at', '<=', filter.until)
  const total = await conversationTotal(db, accountId, { ...filter, sources: ['API'] })
  return { rows: await newestBy('created_at', query, page), total }
}

/** Returns up to `limit` + 1 API conversations, most recently active first, and their total number. */
export async function conversationsOfUser(
  db: Db,
  accountId: AccountId,
  filter: { agentId: string; userId: string },
  page: Page,
): Promise<List> {
  const query = fromApi(db, accountId, filter.agentId).where('user_id', '=', filter.userId)
  const total = await userTotal(db, accountId, { ...filter, source: 'API' })
  return { rows: await newestBy('updated_at', query, page), total }
}

const fromApi = (db: Db, accountId: AccountId, agentId: string) =>
  db
    .selectFrom('conversations')
    .selectAll()
    .where(ofAgent({ accountId, agentId }))
    .where('source', '=', 'API')
    .where('transient', '=', false)

function newestBy(
  time: 'created_at' | 'updated_at',
  query: ReturnType<typeof fromApi>,
  { limit, position }: Page,
): Promise<ConversationRow[]> {
  const rest = position ? query.where(after(time, 'id', position)) : query
  return rest
    .orderBy(time, 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute()
}

const DAY_MS = 86_400_000

/** The user under which conversation_counts counts the rows of a whole agent. */
const NOBODY = ''

/**
 * Returns how many conversations of these sources (null: all but the playground) were created in the range. Whole days
 * come from the maintained counts; the partial days at either end are counted by index.
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

/** Returns how many conversations of a source a user has. */
async function userTotal(
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

/** Returns the sources of the agent's customer conversations. */
export async function sourcesOf(db: Db, { accountId, agentId }: AgentRef): Promise<string[]> {
  const { rows } = await sql<{ source: string }>`
    select distinct source from conversation_counts
    where account_id = ${accountId} and agent_id = ${agentId} and user_id = ${NOBODY}
      and source <> ${PLAYGROUND}`.execute(db)
  return rows.map(({ source }) => source)
}

type Rest = { from: Date; until: Date }

/** The whole UTC days from `firstDay` to before `endDay`, and the partial days before and after them. */
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
