import type { Selectable } from 'kysely'
import type { Static } from 'typebox'
import type { TicketsTable } from '../db/tables.ts'
import type { Ticket } from './schema.ts'

export function presentTicket(row: Selectable<TicketsTable>): Static<typeof Ticket> {
  return {
    ticketNumber: row.number,
    subject: row.subject,
    description: row.description,
    statusCategory: row.status_category,
    // Each category has one status, of its name.
    statusId: row.status_category,
    assigneeId: row.assignee_id,
    customer: row.customer,
    metadata: row.metadata,
    channel: row.channel,
    conversationId: row.conversation_id,
    teamId: null,
    priority: row.priority,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    lastMessageAt: row.last_message_at?.toISOString() ?? null,
  }
}
