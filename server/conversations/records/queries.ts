import { type Selectable, sql } from 'kysely'
import type { Db } from '../../db/database.ts'
import { isId } from '../../db/ids.ts'
import type { AgentRef, ConversationRef } from '../../db/refs.ts'
import type { AccountId } from '../../db/tables/columns.ts'
import type { ConversationsTable, MessagesTable } from '../../db/tables/conversations.ts'
import { ApiError } from '../../http/errors.ts'
import type { DateRange } from '../../http/input/dates.ts'
import { after, type Position } from '../../http/pagination.ts'

export type ConversationRow = Selectable<ConversationsTable>
export type MessageRow = Selectable<MessagesTable>

/** The value of conversations.source for chats on a website (contract, section 4, "Sources of conversations"). */
export const WIDGET = 'Widget or Iframe'
/**
 * The source of conversations in which team members try out an agent. Customer lists and figures leave it out unless it
 * is requested by name.
 */
export const PLAYGROUND = 'Playground'

/** Returns up to `limit` + 1 API conversations, newest first by creation, and the number of matches. */
export async function conversationsByCreation(
  db: Db,
  accountId: AccountId,
  filter: { agentId: string } & DateRange,
  page: { limit: number; position: Position | null },
): Promise<{ rows: ConversationRow[]; total: number }> {
  let query = db
    .selectFrom('conversations')
    .where('account_id', '=', accountId)
    .where('agent_id', '=', filter.agentId)
    .where('source', '=', 'API')
    .where('transient', '=', false)
  if (filter.from) query = query.where('created_at', '>=', filter.from)
  if (filter.until) query = query.where('created_at', '<=', filter.until)
  const total = await conversationTotal(db, accountId, { ...filter, sources: ['API'] })
  if (page.position) query = query.where(after('created_at', 'id', page.position))
  const rows = await query
    .selectAll()
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit + 1)
    .execute()
  return { rows, total }
}

/** Returns up to `limit` + 1 API conversations, most recently active first, and their total number. */
export async function conversationsOfUser(
  db: Db,
  accountId: AccountId,
  filter: { agentId: string; userId: string },
  page: { limit: number; position: Position | null },
): Promise<{ rows: ConversationRow[]; total: number }> {
  let query = db
    .selectFrom('conversations')
    .where('account_id', '=', accountId)
    .where('agent_id', '=', filter.agentId)
    .where('user_id', '=', filter.userId)
    .where('source', '=', 'API')
    .where('transient', '=', false)
  const total = await userTotal(db, accountId, { ...filter, source: 'API' })
  if (page.position) query = query.where(after('updated_at', 'id', page.position))
  const rows = await query
    .selectAll()
    .orderBy('updated_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit + 1)
    .execute()
  return { rows, total }
}

/** Returns the agent's conversation from any source. Throws RESOURCE_NOT_FOUND. */
export async function requireConversation(
  db: Db,
  { accountId, agentId, conversationId }: ConversationRef,
  lock = false,
): Promise<ConversationRow> {
  if (!isId(conversationId)) throw noConversation()
  let query = db
    .selectFrom('conversations')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('agent_id', '=', agentId)
    .where('id', '=', conversationId)
  // This lock is weaker than FOR UPDATE: rows that only refer to the conversation may still be added. Otherwise a
  // step that records its calls and a takeover could deadlock.
  if (lock) query = query.forNoKeyUpdate()
  const row = await query.executeTakeFirst()
  if (!row) throw noConversation()
  return row
}

/**
 * Returns the conversation if it was created through the API. Throws RESOURCE_NOT_FOUND, which for another source
 * names that source and the endpoint that serves it (service-api, "GET …/conversations/{conversationId}").
 */
export async function requireApiConversation(db: Db, ref: ConversationRef): Promise<ConversationRow> {
  const row = await requireConversation(db, ref)
  if (row.source !== 'API') {
    throw new ApiError('RESOURCE_NOT_FOUND', {
      message: `This conversation came from "${row.source}", not from the API. Read it with GET /agents/${ref.agentId}/conversations/export?conversationId=${ref.conversationId}.`,
    })
  }
  return row
}

const noConversation = (): ApiError =>
  new ApiError('RESOURCE_NOT_FOUND', { message: 'The conversation does not exist.' })

/** Returns CHAT_CONVERSATION_NOT_ONGOING with the status in `details`. */
export const notOngoing = (status: string): ApiError =>
  new ApiError('CHAT_CONVERSATION_NOT_ONGOING', {
    message: `The conversation is ${status.replace('_', ' ')}, not ongoing. Start a new one.`,
    details: { status },
  })

/** Returns the error for readers of an answer that its process could not finish. */
export const interrupted = (): ApiError =>
  new ApiError('SERVICE_OVERLOADED', {
    message: 'The answer was interrupted. The conversation keeps its text so far.',
    headers: { 'retry-after': '2' },
  })

/** Returns up to `limit` + 1 messages, newest first, before the message number `beforeSeq`. */
export async function messagesBackwards(
  db: Db,
  accountId: AccountId,
  conversationId: string,
  page: { limit: number; beforeSeq: number | null },
): Promise<MessageRow[]> {
  let query = db
    .selectFrom('messages')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('conversation_id', '=', conversationId)
  if (page.beforeSeq !== null) query = query.where('seq', '<', page.beforeSeq)
  return query
    .orderBy('seq', 'desc')
    .limit(page.limit + 1)
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
