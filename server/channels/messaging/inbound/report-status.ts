import type { Context } from '../../../context.ts'
import type { Db, Trx } from '../../../db/database.ts'
import { transact } from '../../../db/statements/transact.ts'
import type { DeliveryRow } from '../../../deliveries/claim-delivery.ts'
import { applyReport, changeDelivery } from '../../../deliveries/settle-delivery.ts'
import { holdTicketOf, noteDelivery } from '../../../helpdesk/messages/note-delivery.ts'
import type { MessageStatus, WebhookEvent } from '../connection/adapter.ts'
import type { MessagingAccount } from '../connection/connection.ts'
import { piecesOf, readCallback } from '../outbound/pieces.ts'
import { settleTemplate } from '../templates/settle-template.ts'

type Status = Extract<WebhookEvent, { kind: 'status' }>

const ORDER: readonly MessageStatus[] = ['sent', 'delivered', 'read']

/** Notes what has become of a message that was sent, told in any order and more than once. Others' are left out. */
export async function reportStatus(
  ctx: Pick<Context, 'db' | 'notifier' | 'jobs'>,
  { accountId, agentId }: MessagingAccount,
  event: Status,
): Promise<void> {
  const place = await find(ctx.db, { accountId, agentId }, event)
  if (!place) return
  await transact(ctx.db, async (trx) => {
    if (event.status === 'failed') await holdTicketOf(trx, accountId, place.deliveryId)
    const delivery = await trx
      .selectFrom('deliveries')
      .selectAll()
      .where('account_id', '=', accountId)
      .where('agent_id', '=', agentId)
      .where('channel', '=', 'messaging')
      .where('id', '=', place.deliveryId)
      .forUpdate()
      .executeTakeFirst()
    if (!delivery) return
    const pieceCount = piecesOf(delivery.content).length
    if (place.ordinal >= pieceCount) return
    const whole = await notePiece(trx, delivery, { ordinal: place.ordinal, pieceCount }, event)
    const { messageId, recipient, reason } = event
    const settled =
      delivery.content.template && event.status !== 'failed'
        ? await settleTemplate(trx, delivery, { messageId, recipient })
        : delivery
    if (whole === null) {
      await hurry(trx, delivery)
      return
    }
    const changed = await applyReport(trx, settled, {
      status: whole,
      providerMessageId: messageId,
      ...(reason === null ? {} : { reason }),
    })
    if (changed) await noteDelivery(ctx, trx, changed, changed.status)
  })
}

/** By what the message carried; one without it by the id that the channel gave it. */
async function find(
  db: Db,
  { accountId, agentId }: Pick<MessagingAccount, 'accountId' | 'agentId'>,
  { callback, messageId }: Status,
) {
  const carried = callback === null ? null : readCallback(callback)
  if (carried) return carried
  const piece = await db
    .selectFrom('messaging_pieces')
    .select(['delivery_id', 'ordinal'])
    .where('account_id', '=', accountId)
    .where('agent_id', '=', agentId)
    .where('provider_message_id', '=', messageId)
    .executeTakeFirst()
  if (piece) return { deliveryId: piece.delivery_id, ordinal: piece.ordinal }
  const delivery = await db
    .selectFrom('deliveries')
    .select('id')
    .where('account_id', '=', accountId)
    .where('agent_id', '=', agentId)
    .where('channel', '=', 'messaging')
    .where('provider_message_id', '=', messageId)
    .executeTakeFirst()
  return delivery ? { deliveryId: delivery.id, ordinal: 0 } : null
}

/** Keeps the piece's status and answers that of the whole delivery; null while pieces of it are not sent. */
async function notePiece(
  trx: Trx,
  { id, account_id, agent_id }: DeliveryRow,
  { ordinal, pieceCount }: { ordinal: number; pieceCount: number },
  { messageId, status }: Status,
): Promise<MessageStatus | null> {
  const pieces = await trx
    .selectFrom('messaging_pieces')
    .selectAll()
    .where('account_id', '=', account_id)
    .where('delivery_id', '=', id)
    .execute()
  const known = new Map(pieces.map((piece) => [piece.ordinal, piece.status as MessageStatus]))
  const before = pieces.find((piece) => piece.ordinal === ordinal)
  if (before === undefined || moves(before, { messageId, status })) {
    known.set(ordinal, status)
    await trx
      .insertInto('messaging_pieces')
      .values({ delivery_id: id, ordinal, account_id, agent_id, provider_message_id: messageId, status })
      .onConflict((conflict) =>
        conflict.columns(['delivery_id', 'ordinal']).doUpdateSet({ provider_message_id: messageId, status }),
      )
      .execute()
  }
  const statuses = [...known.values()]
  if (statuses.includes('failed')) return 'failed'
  if (known.size < pieceCount) return null
  return ORDER.find((candidate) => statuses.includes(candidate)) ?? null
}

/**
 * Never back: a failure of what the person has is none, and an older `sent` does not undo one. A message that was sent
 * twice counts as the one that got through.
 */
function moves(
  before: { provider_message_id: string; status: MessageStatus },
  now: { messageId: string; status: MessageStatus },
): boolean {
  const isSame = before.provider_message_id === now.messageId
  if (now.status === 'failed') return isSame && before.status === 'sent'
  if (before.status === 'failed') return !isSame || now.status !== 'sent'
  return ORDER.indexOf(now.status) > ORDER.indexOf(before.status)
}

/** One that waits for word of a doubtful piece has it now. */
async function hurry(trx: Trx, delivery: DeliveryRow): Promise<void> {
  if (delivery.status === 'queued' && delivery.maybe_sent)
    await changeDelivery(trx, delivery, { next_at: new Date() })
}
