import { sql } from 'kysely'
import type { Trx } from '../../platform/db/database.ts'
import { newId } from '../../platform/db/ids.ts'
import { ownRow } from '../../platform/db/refs.ts'
import { json } from '../../platform/db/statements/json.ts'
import type { MessagePart, MessagesTable } from '../../platform/db/tables/conversations.ts'
import type { ConversationRow } from './queries.ts'

type NewMessage = {
  /** The message's id, if the author has chosen one. */
  id?: string
  role: MessagesTable['role']
  parts: MessagePart[]
  metadata?: Record<string, unknown> | null
}

/** Appends a message that no generation produced to a conversation, and returns its id. */
export async function appendMessage(
  trx: Trx,
  { id, account_id, agent_id }: Pick<ConversationRow, 'id' | 'account_id' | 'agent_id'>,
  { id: messageId = newId(), role, parts, metadata = null }: NewMessage,
): Promise<string> {
  const next = sql<number>`last_seq + 1`
  const asks = { asked_seq: next, answer_tries: 0, answer_starts: 0, continuations: 0, answer_stopped: false }
  const { last_seq } = await trx
    .updateTable('conversations')
    .set({ last_seq: next, updated_at: sql<Date>`now()` })
    .$if(role === 'user', (query) => query.set(asks))
    // A message from a team member answers everything before it.
    .$if(metadata !== null && 'author' in metadata, (query) => query.set({ answered_seq: next }))
    .where(ownRow(account_id, id))
    .returning('last_seq')
    .executeTakeFirstOrThrow()
  await trx
    .insertInto('messages')
    .values({
      id: messageId,
      account_id,
      agent_id,
      conversation_id: id,
      seq: last_seq,
      role,
      parts: json(parts),
      metadata: metadata === null ? null : json(metadata),
    })
    .execute()
  return messageId
}
