import type { Db } from '../../platform/db/database.ts'
import { type ConversationRef, ownRow } from '../../platform/db/refs.ts'

/**
 * Links a conversation that is not on a channel to the thread, unless it has ended or the thread already has another
 * open conversation.
 */
export async function linkThread(
  trx: Db,
  { accountId, conversationId }: Pick<ConversationRef, 'accountId' | 'conversationId'>,
  threadId: string,
): Promise<void> {
  await trx
    .updateTable('conversations')
    .set({ thread_id: threadId })
    .where(ownRow(accountId, conversationId))
    .where('thread_id', 'is', null)
    .where('status', '<>', 'ended')
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('conversations as open')
            .select('open.id')
            .where('open.account_id', '=', accountId)
            .where('open.thread_id', '=', threadId)
            .where('open.status', '<>', 'ended'),
        ),
      ),
    )
    .execute()
}
