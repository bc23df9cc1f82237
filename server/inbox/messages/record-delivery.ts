import type { Context } from '../../context.ts'
import { noteDelivery } from '../../conversations/records/change-message.ts'
import type { Trx } from '../../platform/db/database.ts'
import { ownRow } from '../../platform/db/refs.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import type { DeliveryStatus } from '../../platform/db/tables/deliveries.ts'
import type { DeliveryRow } from '../deliveries/claim-delivery.ts'
import { applyTicketChange, defaultStatus } from '../tickets/apply-ticket-change.ts'
import { publishDeskEvent } from '../tickets/publish-desk-event.ts'
import { ownerOf, type TicketRow } from '../tickets/ticket-queries.ts'

/** Locks the ticket of a delivery that may be about to fail. Tickets are locked before their deliveries. */
export async function holdTicketOf(trx: Trx, accountId: AccountId, deliveryId: string): Promise<void> {
  await trx
    .selectFrom('tickets')
    .select('id')
    .where('account_id', '=', accountId)
    .where('id', '=', (eb) =>
      eb.selectFrom('deliveries').select('ticket_id').where(ownRow(accountId, deliveryId)),
    )
    .forNoKeyUpdate()
    .execute()
}

/**
 * Publishes the status of a delivery to live readers, and notes at the message that it was not delivered. When the newest reply of a ticket has failed, the ticket stops
 * waiting for the customer, who has not received anything. The caller has locked the ticket with `holdTicketOf`.
 */
export async function recordDelivery(
  ctx: Pick<Context, 'notifier'>,
  trx: Trx,
  delivery: Pick<
    DeliveryRow,
    'account_id' | 'agent_id' | 'ticket_id' | 'ticket_message_id' | 'conversation_id' | 'message_id' | 'error'
  >,
  status: DeliveryStatus,
): Promise<void> {
  const { account_id, message_id, error } = delivery
  if (message_id !== null)
    await noteDelivery(
      trx,
      account_id,
      message_id,
      status === 'failed' || error !== null ? { status, error } : null,
    )
  const ticket = delivery.ticket_id
    ? await trx
        .selectFrom('tickets')
        .selectAll()
        .where(ownRow(delivery.account_id, delivery.ticket_id))
        .executeTakeFirst()
    : undefined
  if (ticket && status === 'failed' && (await isNewestReply(trx, ticket, delivery.ticket_message_id)))
    await applyTicketChange(
      trx,
      ticket,
      { status: await defaultStatus(trx, ownerOf(ticket), 'on_you') },
      'system',
    )
  await publishDeskEvent(
    ctx,
    trx,
    { accountId: delivery.account_id, agentId: delivery.agent_id },
    {
      type: 'delivery',
      data: { ticketNumber: ticket?.number ?? null, conversationId: delivery.conversation_id, status },
    },
  )
}

async function isNewestReply(trx: Trx, ticket: TicketRow, messageId: string | null): Promise<boolean> {
  if (ticket.status_category !== 'on_customer') return false
  const newest = await trx
    .selectFrom('ticket_messages')
    .select('id')
    .where('account_id', '=', ticket.account_id)
    .where('ticket_id', '=', ticket.id)
    .where('type', '=', 'reply')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return newest !== undefined && newest.id === messageId
}
