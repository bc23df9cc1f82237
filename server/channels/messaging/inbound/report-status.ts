import type { Context } from '../../../context.ts'
import type { DeliveryRow } from '../../../inbox/deliveries/claim-delivery.ts'
import { applyReport, changeDelivery } from '../../../inbox/deliveries/settle-delivery.ts'
import { holdTicketOf, recordDelivery } from '../../../inbox/messages/record-delivery.ts'
import type { Db, Trx } from '../../../platform/db/database.ts'
import { ofAgent } from '../../../platform/db/refs.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import type { MessagingAccount } from '../connection/connection.ts'
import type { MessageStatus, Sender, WebhookEvent } from '../connection/provider-adapter.ts'
import { piecesOf, readCallback } from '../outbound/pieces.ts'
import { settleTemplate } from '../templates/settle-template.ts'
import { learnRecipient } from './person-thread.ts'
import { placeOf } from './take-message.ts'

type Status = Extract<WebhookEvent, { kind: 'status' }>

const ORDER: readonly MessageStatus[] = ['sent', 'delivered', 'read']

/**
 * Stores the status of a sent message. Statuses may arrive in any order and more than once. Those of unknown
 * messages are ignored.
 */
export async function reportStatus(
  ctx: Pick<Context, 'db' | 'notifier' | 'jobs'>,
  account: MessagingAccount,
  event: Status,
): Promise<void> {
  const { accountId, agentId, adapter } = account
  if (event.to) await learn(ctx.db, account, event, event.to)
  const place = await find(ctx.db, { accountId, agentId }, event)
  if (!place) return
  await transact(ctx.db, async (trx) => {
    if (event.status === 'failed') await holdTicketOf(trx, accountId, place.deliveryId)
    const delivery = await trx
      .selectFrom('deliveries')
      .selectAll()
      .where(ofAgent({ accountId, agentId }))
      .where('channel', '=', 'messaging')
      .where('id', '=', place.deliveryId)
      .forUpdate()
      .executeTakeFirst()
    if (!delivery) return
    const pieceCount = piecesOf(adapter, delivery.content).length
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
    if (changed) await recordDelivery(ctx, trx, changed, changed.status)
  })
}

/** Later replies may come from an id that the person had no need of before. */
const learn = (db: Db, account: MessagingAccount, event: Status, to: Sender): Promise<void> =>
  transact(db, (trx) => learnRecipient(trx, placeOf(account, event), to, event.messageId))

/** The message is identified by its callback data, or else by the provider's id. */
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
    .where(ofAgent({ accountId, agentId }))
    .where('provider_message_id', '=', messageId)
    .executeTakeFirst()
  if (piece) return { deliveryId: piece.delivery_id, ordinal: piece.ordinal }
  const delivery = await db
    .selectFrom('deliveries')
    .select('id')
    .where(ofAgent({ accountId, agentId }))
    .where('channel', '=', 'messaging')
    .where('provider_message_id', '=', messageId)
    .executeTakeFirst()
  return delivery ? { deliveryId: delivery.id, ordinal: 0 } : null
}

/** Stores the status of the piece and returns that of the whole delivery, or null while pieces are still unsent. */
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
 * A status never goes back: a failure of a delivered message is ignored, and an older `sent` does not replace it. A
 * message that was sent twice has the status of the copy that arrived.
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

/** A delivery that waits for the status of an uncertain piece can continue. */
async function hurry(trx: Trx, delivery: DeliveryRow): Promise<void> {
  if (delivery.status === 'queued' && delivery.maybe_sent)
    await changeDelivery(trx, delivery, { next_at: new Date() })
}
