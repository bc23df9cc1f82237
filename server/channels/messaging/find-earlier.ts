import { sql } from 'kysely'
import type { Static } from 'typebox'
import type { Db } from '../../db/database.ts'
import type { SentTemplate } from './schema.ts'
import { STATUS_WITHIN_MS } from './send.ts'
import { mayBeSent } from './send-errors.ts'
import type { ThreadData } from './take-message.ts'

/**
 * What an equal request with the same Idempotency-Key has sent before its process died or its answer was lost; null
 * when it may be sent (again). Throws MESSAGING_SEND_FAILED while that is not known.
 */
export async function findEarlier(
  db: Db,
  agentId: string,
  requestKey: string,
): Promise<Static<typeof SentTemplate> | null> {
  const row = await db
    .selectFrom('deliveries')
    .innerJoin('channel_threads', 'channel_threads.id', 'deliveries.thread_id')
    .select(['deliveries.status', 'deliveries.content', 'deliveries.maybe_sent', 'provider_message_id'])
    .select(['conversation_id', 'channel_threads.data', 'channel_threads.peer'])
    .select(
      sql<boolean>`deliveries.updated_at > now() - ${STATUS_WITHIN_MS} * interval '1 millisecond'`.as(
        'is_fresh',
      ),
    )
    .where('deliveries.agent_id', '=', agentId)
    .where(sql<boolean>`deliveries.content #>> '{template,requestKey}' = ${requestKey}`)
    .orderBy('deliveries.created_at', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (!row) return null
  const { status, content, conversation_id, provider_message_id } = row
  if (content.template?.isSettled && conversation_id && provider_message_id && status !== 'failed') {
    const to = (row.data as ThreadData).recipient ?? row.peer.slice(1)
    return { messageId: provider_message_id, conversationId: conversation_id, to }
  }
  const isDoubtful = status === 'sending' || row.maybe_sent
  if (isDoubtful && row.is_fresh) throw mayBeSent()
  return null
}
