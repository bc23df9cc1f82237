import { sql } from 'kysely'
import type { Trx } from '../db/database.ts'
import type { Priority, StatusCategory } from '../db/tables.ts'
import { addTicketMessage } from './add-ticket-message.ts'
import { clocksAfterMove, clocksAfterPriority } from './clocks/ticket-clocks.ts'
import { noteAssignment } from './route-ticket.ts'
import type { TicketRow } from './ticket-queries.ts'

export type Change = {
  status?: { category: StatusCategory; id: string | null }
  assigneeId?: string | null
  teamId?: string | null
  priority?: Priority
  conversationId?: string | null
  /** The agent has the conversation again. */
  handedBack?: boolean
}

/** Who did it: a member's id, or one of these. */
export type Doer = string | 'customer' | 'system' | 'api'

/** A category with its default status; without an id before statuses were made for the agent. */
export async function defaultStatus(
  trx: Trx,
  agentId: string,
  category: StatusCategory,
): Promise<{ category: StatusCategory; id: string | null }> {
  const found = await trx
    .selectFrom('ticket_statuses')
    .select('id')
    .where('agent_id', '=', agentId)
    .where('category', '=', category)
    .where('is_default', '=', true)
    .executeTakeFirst()
  return { category, id: found?.id ?? null }
}

/**
 * Changes a ticket whose row is locked and notes each change as an event on it (contract, section 8); answers the new
 * row. What is the same already is no change. The caller tells those who watch.
 */
export async function changeTicket(
  trx: Trx,
  ticket: TicketRow,
  change: Change,
  doneBy: Doer,
): Promise<TicketRow> {
  const events = eventsOf(ticket, change)
  const isLinked = change.conversationId !== undefined && change.conversationId !== ticket.conversation_id
  if (events.length === 0 && !isLinked) return ticket
  const { status } = change
  const row = await trx
    .updateTable('tickets')
    .set({
      ...(status
        ? { status_category: status.category, status_id: status.id, handed_back: change.handedBack ?? false }
        : {}),
      ...(change.assigneeId === undefined ? {} : { assignee_id: change.assigneeId }),
      ...(change.teamId === undefined ? {} : { team_id: change.teamId }),
      ...(change.priority === undefined ? {} : { priority: change.priority }),
      ...(change.conversationId === undefined ? {} : { conversation_id: change.conversationId }),
      updated_at: sql<Date>`clock_timestamp()`,
    })
    .where('account_id', '=', ticket.account_id)
    .where('id', '=', ticket.id)
    .returningAll()
    .executeTakeFirstOrThrow()
  for (const event of events) {
    await addTicketMessage(trx, ticket, { type: 'event', sender: null, metadata: { ...event, doneBy } })
  }
  if (row.assignee_id !== null && row.assignee_id !== ticket.assignee_id) {
    await noteAssignment(trx, row.account_id, row.assignee_id)
  }
  if (row.priority !== ticket.priority) await clocksAfterPriority(trx, row)
  if (row.status_category !== ticket.status_category) {
    await clocksAfterMove(trx, row, ticket.status_category)
  }
  return row
}

function eventsOf(
  ticket: TicketRow,
  { status, assigneeId, teamId, priority }: Change,
): Record<string, unknown>[] {
  const isMoved =
    status &&
    (status.category !== ticket.status_category || (status.id !== null && status.id !== ticket.status_id))
  return [
    isMoved && {
      eventType: 'status_changed',
      statusFrom: ticket.status_category,
      statusTo: status.category,
      statusIdFrom: ticket.status_id,
      statusIdTo: status.id,
    },
    assigneeId !== undefined &&
      assigneeId !== ticket.assignee_id && {
        eventType: 'assignee_changed',
        assignedFrom: ticket.assignee_id,
        assignedTo: assigneeId,
      },
    teamId !== undefined &&
      teamId !== ticket.team_id && { eventType: 'team_changed', teamFrom: ticket.team_id, teamTo: teamId },
    priority !== undefined &&
      priority !== ticket.priority && {
        eventType: 'priority_changed',
        priorityFrom: ticket.priority,
        priorityTo: priority,
      },
  ].filter((event) => event !== false && event !== undefined) as Record<string, unknown>[]
}
