import type { Selectable } from 'kysely'
import type { Db } from '../../db/database.ts'
import { isId } from '../../db/ids.ts'
import type { ConversationRef } from '../../db/refs.ts'
import type { AccountId } from '../../db/tables/columns.ts'
import type { ConversationsTable, MessagesTable } from '../../db/tables/conversations.ts'
import { ApiError } from '../../http/errors.ts'
import type { DateRange } from '../../http/input/dates.ts'
import { after, type Position } from '../../http/pagination.ts'
import { conversationTotal, userTotal } from './totals.ts'

export type ConversationRow = Selectable<ConversationsTable>
export type MessageRow = Selectable<MessagesTable>

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
