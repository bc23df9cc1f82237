import type { Static } from 'typebox'
import type { Context } from '../../context.ts'
import { attachmentUrl } from '../../conversations/attachments/serve-attachments.ts'
import type { DeliveryStatus } from '../../platform/db/tables/deliveries.ts'
import type { TicketMessageRow } from '../messages/add-ticket-message.ts'
import type { CreatedReply, ListedTicket, Ticket, TicketMessage } from './schema.ts'
import type { TicketRow } from './ticket-queries.ts'

export function presentTicket(row: TicketRow): Static<typeof Ticket> {
  return { ...presentListedTicket(row), description: row.description, metadata: row.metadata }
}

/** Returns a ticket as in lists. */
export function presentListedTicket(row: TicketRow): Static<typeof ListedTicket> {
  return {
    ticketNumber: row.number,
    subject: row.subject,
    statusCategory: row.status_category,
    // Until the agent's statuses are created, each category has one with its name.
    statusId: row.status_id ?? row.status_category,
    assigneeId: row.assignee_id,
    customer: row.customer,
    channel: row.channel,
    conversationId: row.conversation_id,
    teamId: row.team_id,
    priority: row.priority,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    lastMessageAt: row.last_message_at?.toISOString() ?? null,
    ...(row.wakes_at ? { wakesAt: row.wakes_at.toISOString() } : {}),
  }
}

export type DeliveryState = { status: DeliveryStatus; error: string | null }

/** Returns a reply that has just been stored, with its author. */
export function presentReply(
  ctx: Pick<Context, 'secrets' | 'config'>,
  row: TicketMessageRow,
  { id, name, email }: { id: string; name: string; email: string },
  delivery: DeliveryState | undefined,
): Static<typeof CreatedReply> {
  return {
    ...presentTicketMessage(ctx, row, delivery),
    type: 'reply',
    sender: { type: 'agent', id, name, email },
    content: row.content ?? '',
    contentText: row.content_text ?? '',
  }
}

/** `delivery` is the status of the delivery, if the reply has one. */
export function presentTicketMessage(
  ctx: Pick<Context, 'secrets' | 'config'>,
  row: TicketMessageRow,
  delivery: DeliveryState | undefined,
): Static<typeof TicketMessage> {
  const metadata = { ...row.metadata, ...(delivery ? { delivery } : {}) }
  const owner = { accountId: row.account_id, agentId: row.agent_id }
  return {
    id: row.id,
    type: row.type,
    sender: row.sender,
    content: row.content,
    contentText: row.content_text,
    attachments: row.attachments.map(({ id, name, type, size }) => ({
      name,
      url: attachmentUrl(ctx, owner, id),
      type,
      size,
    })),
    createdAt: row.created_at.toISOString(),
    ...(Object.keys(metadata).length > 0 ? { metadata } : {}),
  }
}
