import type { Context } from '../context.ts'
import type { Trx } from '../db/database.ts'
import type { DeliveryStatus } from '../db/tables.ts'
import type { DeliveryRow } from '../deliveries/claim-delivery.ts'
import { recordEvent } from './record-event.ts'

/** Tells those who watch how far an answer has come. */
export async function noteDelivery(
  ctx: Pick<Context, 'notifier'>,
  trx: Trx,
  delivery: Pick<DeliveryRow, 'account_id' | 'agent_id' | 'ticket_id' | 'conversation_id'>,
  status: DeliveryStatus,
): Promise<void> {
  const ticket = delivery.ticket_id
    ? await trx.selectFrom('tickets').select('number').where('id', '=', delivery.ticket_id).executeTakeFirst()
    : undefined
  await recordEvent(ctx, trx, delivery.account_id, delivery.agent_id, {
    type: 'delivery',
    data: { ticketNumber: ticket?.number ?? null, conversationId: delivery.conversation_id, status },
  })
}
