import { type Selectable, sql } from 'kysely'
import type { Db } from '../../platform/db/database.ts'
import { isId } from '../../platform/db/ids.ts'
import { type AgentRef, ofAgent } from '../../platform/db/refs.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import type { MessagesTable } from '../../platform/db/tables/conversations.ts'
import type { DateRange } from '../../platform/http/input/dates.ts'
import type { Position } from '../../platform/http/pagination.ts'
import { sourcesOf } from '../records/conversation-lists.ts'
import type { ConversationRow } from '../records/queries.ts'

type ExportFilter = { agentId: string; sources: string[] | null } & DateRange

/** One more row than `limit`, newest first by creation: the newest of each source by its index, then merged. */
export async function conversationsToExport(
  db: Db,
  accountId: AccountId,
  { agentId, sources, from, until }: ExportFilter,
  { limit, position }: { limit: number; position: Position | null },
): Promise<ConversationRow[]> {
  const wanted = sources ?? (await sourcesOf(db, { accountId, agentId }))
  const { rows } = await sql<ConversationRow>`
    select found.* from unnest(${wanted}::text[]) as wanted (source)
    cross join lateral (
      select * from conversations where account_id = ${accountId} and agent_id = ${agentId}
        and source = wanted.source and not transient
        and ${from ? sql`created_at >= ${from}` : sql`true`} and ${until ? sql`created_at <= ${until}` : sql`true`}
        and ${position ? sql`(created_at, id) < (${position.value}::timestamptz, ${position.id}::uuid)` : sql`true`}
      order by created_at desc, id desc limit ${limit + 1}
    ) as found
    order by found.created_at desc, found.id desc limit ${limit + 1}`.execute(db)
  return rows
}

/** The agent's conversation, of any source. */
export async function conversationToExport(
  db: Db,
  ref: AgentRef,
  id: string,
): Promise<ConversationRow | undefined> {
  if (!isId(id)) return undefined
  return db
    .selectFrom('conversations')
    .selectAll()
    .where(ofAgent(ref))
    .where('id', '=', id)
    .where('transient', '=', false)
    .executeTakeFirst()
}

/** All messages of the conversations, by conversation, oldest first. */
export async function messagesToExport(
  db: Db,
  accountId: AccountId,
  ids: readonly string[],
): Promise<Map<string, Selectable<MessagesTable>[]>> {
  const found = new Map<string, Selectable<MessagesTable>[]>(ids.map((id) => [id, []]))
  if (ids.length === 0) return found
  const rows = await db
    .selectFrom('messages')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('conversation_id', 'in', ids)
    .orderBy('conversation_id')
    .orderBy('seq')
    .execute()
  for (const row of rows) found.get(row.conversation_id)?.push(row)
  return found
}

/** The next messages of one conversation, oldest first. */
export async function messagesAfter(
  db: Db,
  accountId: AccountId,
  conversationId: string,
  { afterSeq, limit }: { afterSeq: number; limit: number },
): Promise<Selectable<MessagesTable>[]> {
  return db
    .selectFrom('messages')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('conversation_id', '=', conversationId)
    .where('seq', '>', afterSeq)
    .orderBy('seq')
    .limit(limit)
    .execute()
}
