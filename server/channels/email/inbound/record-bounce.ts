import type { Context } from '../../../context.ts'
import { type ThreadRow, threadOf } from '../../../inbox/deliveries/enqueue-delivery.ts'
import { reportDelivery } from '../../../inbox/deliveries/settle-delivery.ts'
import { holdTicketOf, recordDelivery } from '../../../inbox/messages/record-delivery.ts'
import type { Db } from '../../../platform/db/database.ts'
import { isId } from '../../../platform/db/ids.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import type { ConnectionRow } from '../connection/connection.ts'
import { readMessageId } from '../connection/thread-marks.ts'
import type { Bounce } from '../parse/parsed-mail.ts'

/**
 * Marks our mails that did not arrive; marking one twice changes nothing. Returns the thread of the first of them.
 * Bounces of other mails are ignored. Each mark has a transaction of its own, because it locks the ticket and the
 * stream of events, which a transaction that stores a mail locks after the thread and its conversation.
 */
export async function recordBounce(
  ctx: Pick<Context, 'db' | 'notifier'>,
  row: ConnectionRow,
  key: Buffer,
  { messageIds, reason }: Bounce,
): Promise<ThreadRow | null> {
  const { account_id: accountId } = row
  let thread: ThreadRow | null = null
  for (const messageId of messageIds.slice(0, 20)) {
    const delivery = await deliveryOf(ctx.db, row, key, messageId)
    if (!delivery?.thread_id) continue
    await transact(ctx.db, async (trx) => {
      await holdTicketOf(trx, accountId, delivery.id)
      const changed = await reportDelivery(trx, accountId, delivery.id, { status: 'failed', reason })
      if (changed) await recordDelivery(ctx, trx, changed, 'failed')
    })
    thread ??= await threadOf(ctx.db, accountId, delivery.thread_id)
  }
  return thread
}

/** The mail is identified by our Message-ID or by the one that the server gave it. */
async function deliveryOf(db: Db, row: ConnectionRow, key: Buffer, messageId: string) {
  const ours = readMessageId(key, messageId)
  const query = db
    .selectFrom('deliveries')
    .select(['id', 'thread_id'])
    .where('account_id', '=', row.account_id)
    .where('agent_id', '=', row.agent_id)
    .where('channel', '=', 'email')
  return ours && isId(ours.deliveryId)
    ? query.where('id', '=', ours.deliveryId).executeTakeFirst()
    : query.where('provider_message_id', '=', messageId).executeTakeFirst()
}
