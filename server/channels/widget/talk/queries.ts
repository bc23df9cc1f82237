import { sql } from 'kysely'
import type { ConversationRow } from '../../../conversations/records/queries.ts'
import { WIDGET } from '../../../conversations/records/queries.ts'
import type { Db } from '../../../platform/db/database.ts'
import type { AccountId } from '../../../platform/db/tables/columns.ts'
import type { Visit } from '../visitors/visitor.ts'
import type { PendingCall } from './visible.ts'

const NEWEST = 20

/** Most recently active first. */
export function conversationsOfVisitor(db: Db, { agent, visitorId }: Visit): Promise<ConversationRow[]> {
  return db
    .selectFrom('conversations')
    .selectAll()
    .where('account_id', '=', agent.account_id)
    .where('agent_id', '=', agent.id)
    .where('user_id', '=', visitorId)
    .where('source', '=', WIDGET)
    .orderBy('updated_at', 'desc')
    .orderBy('id', 'desc')
    .limit(NEWEST)
    .execute()
}

/** Calls that still wait for a result of the page. */
export function pendingCalls(db: Db, accountId: AccountId, conversationId: string): Promise<PendingCall[]> {
  return db
    .selectFrom('tool_calls')
    .select(['id', 'message_id', 'name', 'input'])
    .where('account_id', '=', accountId)
    .where('conversation_id', '=', conversationId)
    .where('status', '=', 'pending')
    .where('expires_at', '>', sql<Date>`now()`)
    .orderBy('id')
    .execute()
}
