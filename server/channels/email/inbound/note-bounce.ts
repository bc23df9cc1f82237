import type { Context } from '../../../context.ts'
import type { Trx } from '../../../db/database.ts'
import { isId } from '../../../db/ids.ts'
import { type ThreadRow, threadOf } from '../../../deliveries/enqueue-delivery.ts'
import { reportDelivery } from '../../../deliveries/settle-delivery.ts'
import { holdTicketOf, noteDelivery } from '../../../helpdesk/messages/note-delivery.ts'
import type { ConnectionRow } from '../connection/connection.ts'
import { readMessageId } from '../connection/marks.ts'
import type { Bounce } from '../parse/parsed-mail.ts'

/** Marks our mails that did not arrive. Returns the thread of the first of them. Bounces of other mails are ignored. */
export async function noteBounce(
  ctx: Pick<Context, 'notifier'>,
  trx: Trx,
  row: ConnectionRow,
  key: Buffer,
  { messageIds, reason }: Bounce,
): Promise<ThreadRow | null> {
  let thread: ThreadRow | null = null
  for (const messageId of messageIds.slice(0, 20)) {
    const delivery = await deliveryOf(trx, row, key, messageId)
    if (!delivery?.thread_id) continue
    await holdTicketOf(trx, row.account_id, delivery.id)
    const changed = await reportDelivery(trx, row.account_id, delivery.id, { status: 'failed', reason })
    if (changed) await noteDelivery(ctx, trx, changed, 'failed')
    thread ??= await threadOf(trx, row.account_id, delivery.thread_id)
  }
  return thread
}

/** The mail is identified by our Message-ID or by the one that the server gave it. */
async function deliveryOf(trx: Trx, row: ConnectionRow, key: Buffer, messageId: string) {
  const ours = readMessageId(key, messageId)
  const query = trx
    .selectFrom('deliveries')
    .select(['id', 'thread_id'])
    .where('account_id', '=', row.account_id)
    .where('agent_id', '=', row.agent_id)
    .where('channel', '=', 'email')
  return ours && isId(ours.deliveryId)
    ? query.where('id', '=', ours.deliveryId).executeTakeFirst()
    : query.where('provider_message_id', '=', messageId).executeTakeFirst()
}
