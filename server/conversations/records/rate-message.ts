import type { Db } from '../../platform/db/database.ts'
import { isId } from '../../platform/db/ids.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { ApiError } from '../../platform/http/errors.ts'
import type { MessageRow } from './queries.ts'

/** Sets or clears the rating of an assistant message; RESOURCE_MESSAGE_NOT_FOUND, RESOURCE_MESSAGE_NOT_ASSISTANT. */
export async function rateMessage(
  db: Db,
  accountId: AccountId,
  { conversationId, messageId }: { conversationId: string; messageId: string },
  feedback: 'positive' | 'negative' | null,
): Promise<MessageRow> {
  if (!isId(messageId)) throw new ApiError('RESOURCE_MESSAGE_NOT_FOUND')
  const row = await db
    .updateTable('messages')
    .set((eb) => ({
      feedback: eb.case().when('role', '=', 'assistant').then(feedback).else(eb.ref('feedback')).end(),
    }))
    .where('account_id', '=', accountId)
    .where('conversation_id', '=', conversationId)
    .where('id', '=', messageId)
    .returningAll()
    .executeTakeFirst()
  if (!row) throw new ApiError('RESOURCE_MESSAGE_NOT_FOUND')
  if (row.role !== 'assistant') throw new ApiError('RESOURCE_MESSAGE_NOT_ASSISTANT')
  return row
}
