import type { Context } from '../../../context.ts'
import { linkThread } from '../../../conversations/records/link-thread.ts'
import { setFirstStatus } from '../../../conversations/records/set-status.ts'
import type { DeliveryRow } from '../../../inbox/deliveries/claim-delivery.ts'
import type { ThreadRow } from '../../../inbox/deliveries/enqueue-delivery.ts'
import { changeDelivery } from '../../../inbox/deliveries/settle-delivery.ts'
import { isOver, linkTicket } from '../../../inbox/tickets/ticket-queries.ts'
import type { Trx } from '../../../platform/db/database.ts'
import { ownRow } from '../../../platform/db/refs.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import type { StatusCategory } from '../../../platform/db/tables/helpdesk.ts'
import { mailAddress, oneLine } from '../../../platform/mail/mail-address.ts'
import { newConversation } from '../../inbound/process-inbound.ts'
import { ensureThread } from '../../inbound/receive-message.ts'
import { type ConnectionRow, markKeyOf } from '../connection/connection.ts'
import { peerFrom } from '../connection/thread-marks.ts'
import { changeMailThread } from './mail-threads.ts'

/**
 * Returns the thread of a ticket that was opened without a mail. It is created for the customer's address when it is
 * first needed, and the customer's answers come to the ticket. Returns null when there is no address.
 */
export async function threadOfTicket(
  ctx: Pick<Context, 'db' | 'secrets'>,
  row: ConnectionRow,
  { id: deliveryId, ticket_id, content }: DeliveryRow,
): Promise<ThreadRow | null> {
  if (ticket_id === null) return null
  return transact(ctx.db, async (trx) => {
    const ticket = await trx
      .selectFrom('tickets')
      .select(['id', 'number', 'subject', 'status_category', 'customer', 'conversation_id'])
      .where(ownRow(row.account_id, ticket_id))
      .forNoKeyUpdate()
      .executeTakeFirst()
    const address = mailAddress(ticket?.customer.email ?? undefined)
    if (!ticket || !address) return null
    const name = ticket.customer.name
    const threadId = await ensureThread(trx, {
      accountId: row.account_id,
      agentId: row.agent_id,
      channel: 'email',
      connection: row.address,
      peer: peerFrom(await markKeyOf(ctx, row, trx), ticket.id),
      person: { email: address, ...(name ? { name } : {}) },
    })
    await changeMailThread(
      trx,
      row.account_id,
      threadId,
      (known) =>
        known ?? {
          subject: oneLine(content.subject ?? `[#${ticket.number}] ${ticket.subject ?? ''}`, 500),
          to: { address, name },
          participants: [address],
          references: [],
          lastReceived: null,
          alsoTo: null,
        },
    )
    const thread = await trx
      .selectFrom('channel_threads')
      .selectAll()
      .where(ownRow(row.account_id, threadId))
      .executeTakeFirstOrThrow()
    await linkConversation(trx, thread, ticket)
    await changeDelivery(trx, { id: deliveryId, account_id: row.account_id }, { thread_id: threadId })
    return thread
  })
}

/** Mails are added to the thread's open conversation, and so to the ticket of that conversation. */
async function linkConversation(
  trx: Trx,
  thread: ThreadRow,
  ticket: {
    id: string
    subject: string | null
    status_category: StatusCategory
    conversation_id: string | null
  },
): Promise<void> {
  if (ticket.conversation_id !== null) {
    const ref = { accountId: thread.account_id, conversationId: ticket.conversation_id }
    await linkThread(trx, ref, thread.id)
    return
  }
  const conversation = await newConversation(trx, thread, ticket.subject ?? '', null)
  // Nobody would end the conversation of a ticket that is already closed.
  const status = isOver(ticket.status_category) ? 'ended' : 'taken_over'
  await setFirstStatus(trx, conversation, status)
  await linkTicket(trx, { id: ticket.id, account_id: thread.account_id }, conversation.id)
}
