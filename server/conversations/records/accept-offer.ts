import type { Trx } from '../../platform/db/database.ts'
import { isId } from '../../platform/db/ids.ts'
import { metadataOf } from './present.ts'
import type { ConversationRow } from './queries.ts'

/**
 * Returns whether the offer of an answer is still `open` or was `taken` by a message of the conversation; null if there
 * is none. The caller holds the lock of the conversation's row, and stores the message that takes it with `accepts` in
 * its metadata.
 */
export async function acceptanceOf(
  trx: Trx,
  { id, account_id, thread_id }: Pick<ConversationRow, 'id' | 'account_id' | 'thread_id'>,
  answerId: string,
): Promise<'open' | 'taken' | null> {
  if (!isId(answerId)) return null
  // On a channel, a button of an earlier conversation can still be pressed.
  const talk = trx
    .selectFrom('conversations')
    .select('id')
    .where('account_id', '=', account_id)
    .where((eb) => eb.or([eb('id', '=', id), eb('thread_id', '=', thread_id)]))
  const rows = await trx
    .selectFrom('messages')
    .select(['id', 'conversation_id', 'metadata'])
    .where('account_id', '=', account_id)
    .where('conversation_id', 'in', talk)
    .where((eb) =>
      eb.or([eb('id', '=', answerId), eb(eb.ref('metadata', '->>').key('accepts'), '=', answerId)]),
    )
    .execute()
  if (rows.some((row) => row.conversation_id === id && row.id !== answerId)) return 'taken'
  return rows.some((row) => row.id === answerId && metadataOf(row).offer === 'person') ? 'open' : null
}
