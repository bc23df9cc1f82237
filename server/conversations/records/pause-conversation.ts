import type { Db } from '../../platform/db/database.ts'
import { type ConversationRef, ownRow } from '../../platform/db/refs.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import { notOngoing, requireConversation } from './queries.ts'

/**
 * Pauses or resumes a conversation; does nothing if it is already in the requested state. A reply in progress is
 * completed. Throws CHAT_CONVERSATION_NOT_ONGOING when a person has taken it over or it has ended.
 */
export async function pauseConversation(
  db: Db,
  { accountId, agentId, conversationId }: ConversationRef,
  paused: boolean,
): Promise<'ongoing' | 'paused'> {
  const wanted = paused ? 'paused' : 'ongoing'
  return transact(db, async (trx) => {
    const { id, status } = await requireConversation(trx, { accountId, agentId, conversationId }, true)
    if (status !== 'ongoing' && status !== 'paused') throw notOngoing(status)
    if (status !== wanted) {
      await trx.updateTable('conversations').set({ status: wanted }).where(ownRow(accountId, id)).execute()
    }
    return wanted
  })
}
