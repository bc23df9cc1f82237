import type { Db } from '../../db/database.ts'
import { isId } from '../../db/ids.ts'
import type { AccountId } from '../../db/tables/columns.ts'
import { ApiError } from '../../http/errors.ts'

export type RetryTarget = { from: number; question: { id: string; seq: number } }

/** Where a retry cuts (the number of the assistant message), and the user message it answers again. */
export async function findRetry(
  db: Db,
  accountId: AccountId,
  conversationId: string,
  messageId: string,
): Promise<RetryTarget> {
  const messages = db
    .selectFrom('messages')
    .select(['id', 'seq'])
    .where('account_id', '=', accountId)
    .where('conversation_id', '=', conversationId)
  const target = isId(messageId)
    ? await messages.where('id', '=', messageId).where('role', '=', 'assistant').executeTakeFirst()
    : undefined
  if (!target) throw new ApiError('CHAT_RETRY_MESSAGE_NOT_FOUND')
  const question = await messages
    .where('role', '=', 'user')
    .where('seq', '<', target.seq)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (!question) throw new ApiError('CHAT_RETRY_NO_USER_MESSAGE')
  return { from: target.seq, question }
}
