import { sql } from 'kysely'
import type { ConversationRow, MessageRow } from '../conversations/queries.ts'
import type { Db } from '../db/database.ts'
import type { AccountId } from '../db/tables.ts'
import type { DateRange } from '../http/dates.ts'

/** `page` counts from 1. */
export type Page = { page: number; size: number }
type Filter = { agentId: string } & DateRange

/** Of the sources (in lower case; null: of all), newest first. */
export async function conversationsOfPage(
  db: Db,
  accountId: AccountId,
  { agentId, from, until, sources }: Filter & { sources: string[] | null },
  { page, size }: Page,
): Promise<{ row: ConversationRow; messages: MessageRow[] }[]> {
  let query = db
    .selectFrom('conversations')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('agent_id', '=', agentId)
    .where('transient', '=', false)
  if (from) query = query.where('created_at', '>=', from)
  if (until) query = query.where('created_at', '<=', until)
  if (sources) query = query.where(sql<string>`lower(source)`, 'in', sources)
  const rows = await query
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(size)
    .offset((page - 1) * size)
    .execute()
  const messages = await messagesOf(db, accountId, rows)
  return rows.map((row) => ({ row, messages: messages.get(row.id) ?? [] }))
}

/** All of each, oldest first. */
async function messagesOf(
  db: Db,
  accountId: AccountId,
  conversations: ConversationRow[],
): Promise<Map<string, MessageRow[]>> {
  if (conversations.length === 0) return new Map()
  const ids = conversations.map(({ id }) => id)
  const messages = await db
    .selectFrom('messages')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('conversation_id', 'in', ids)
    .orderBy('seq')
    .execute()
  return Map.groupBy(messages, ({ conversation_id }) => conversation_id)
}

/** Newest first. */
export function leadsOfPage(
  db: Db,
  accountId: AccountId,
  { agentId, from, until }: Filter,
  { page, size }: Page,
) {
  let query = db
    .selectFrom('leads')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('agent_id', '=', agentId)
  if (from) query = query.where('created_at', '>=', from)
  if (until) query = query.where('created_at', '<=', until)
  return query
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(size)
    .offset((page - 1) * size)
    .execute()
}
