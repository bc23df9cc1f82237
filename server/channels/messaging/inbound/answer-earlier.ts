import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Static } from 'typebox'
import type { Db } from '../../../platform/db/database.ts'
import type { AccountId } from '../../../platform/db/tables/columns.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import { mayBeSent } from '../outbound/send-errors.ts'
import type { SentTemplate } from '../schema.ts'
import type { ThreadData } from './person-thread.ts'

const LOOK_EVERY_MS = 100
const MAX_WAIT_MS = 10_000

/**
 * Returns what became of the template that an equal request with the same Idempotency-Key began to send. It is never
 * sent again. Waits a moment for a request that is still sending it. Throws MESSAGING_SEND_FAILED when the provider
 * has not responded or has reported a failure.
 */
export async function answerEarlier(
  db: Db,
  accountId: AccountId,
  deliveryId: string,
): Promise<Static<typeof SentTemplate>> {
  const deadline = performance.now() + MAX_WAIT_MS
  for (;;) {
    const row = await readDelivery(db, accountId, deliveryId)
    if (row?.content.template?.isSettled && row.conversation_id && row.provider_message_id) {
      const to = (row.data as ThreadData).recipient ?? row.peer.slice(1)
      return { messageId: row.provider_message_id, conversationId: row.conversation_id, to }
    }
    if (row?.is_undelivered) {
      throw new ApiError('MESSAGING_SEND_FAILED', {
        message:
          'The channel has reported that it could not deliver the message. To send it again, use another Idempotency-Key.',
      })
    }
    if (row?.status !== 'sending' || performance.now() > deadline) throw mayBeSent()
    await wait(LOOK_EVERY_MS)
  }
}

const readDelivery = (db: Db, accountId: AccountId, deliveryId: string) =>
  db
    .selectFrom('deliveries')
    .innerJoin('channel_threads', 'channel_threads.id', 'deliveries.thread_id')
    .select(['deliveries.status', 'deliveries.content', 'deliveries.provider_message_id'])
    .select(['conversation_id', 'channel_threads.data', 'channel_threads.peer'])
    .select(
      sql<boolean>`exists (select from messaging_pieces where delivery_id = deliveries.id and status = 'failed')`.as(
        'is_undelivered',
      ),
    )
    .where('deliveries.account_id', '=', accountId)
    .where('deliveries.id', '=', deliveryId)
    .executeTakeFirst()
