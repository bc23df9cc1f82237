import type { Db } from '../../db/database.ts'
import type { AccountId } from '../../db/tables/columns.ts'
import { ApiError } from '../../http/errors.ts'
import type { MessageMetadata } from '../records/present.ts'
import type { MessageRow } from '../records/queries.ts'
import { waitingCalls } from '../records/tool-calls.ts'

/**
 * The assistant message that goes on from the results of its actions, and the user message it answers. Throws
 * CHAT_NOTHING_TO_CONTINUE when the newest message does not wait for any, or still waits for some.
 */
export async function requireContinuable(
  db: Db,
  accountId: AccountId,
  conversationId: string,
  history: MessageRow[],
): Promise<{ userMessageId: string; askedSeq: number; messageId: string }> {
  const newest = history.at(-1)
  const { finishReason } = (newest?.metadata ?? {}) as MessageMetadata
  if (newest?.role !== 'assistant' || finishReason !== 'tool-calls') {
    throw new ApiError('CHAT_NOTHING_TO_CONTINUE')
  }
  const waiting = await waitingCalls(db, accountId, conversationId)
  if (waiting.length > 0) {
    const list = waiting.map(({ id, name }) => `${name} (${id})`).join(', ')
    throw new ApiError('CHAT_NOTHING_TO_CONTINUE', {
      message: `There is no message, and actions still wait for their results: ${list}. Send them to tool-result first.`,
    })
  }
  const asked = history.findLast(({ role }) => role === 'user') ?? newest
  return { userMessageId: asked.id, askedSeq: asked.seq, messageId: newest.id }
}
