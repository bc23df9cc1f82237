import { sql } from 'kysely'
import { noteAssignment } from '../../accounts/records/members.ts'
import { noteTicket } from '../../conversations/records/set-status.ts'
import type { Trx } from '../../platform/db/database.ts'
import { isId } from '../../platform/db/ids.ts'
import { type AgentRef, ofAgent, ownRow } from '../../platform/db/refs.ts'
import type { Priority, StatusCategory } from '../../platform/db/tables/helpdesk.ts'
import { clocksAfterMove, clocksAfterPriority } from '../clocks/ticket-clocks.ts'
import { addTicketMessage } from '../messages/add-ticket-message.ts'
import { isOver, type TicketRow, WAITING } from './ticket-queries.ts'

export type Change = {
  status?: { category: StatusCategory; id: string | null }
  assigneeId?: string | null
  teamId?: string | null
  priority?: Priority
  conversationId?: string | null
  /** When a ticket on hold returns to the team; null: not by itself. Every other move ends it. */
  wakesAt?: Date | null
  /** Whether the conversation was handed back to the agent. */
  handedBack?: boolean
}

/** Who made the change: a member's id, or one of these. */
export type Doer = string | 'customer' | 'system' | 'api'

/** Returns a category with its default status. The id is null until the agent's statuses have been created. */
export async function defaultStatus(
  trx: Trx,
  ref: AgentRef,
  category: StatusCategory,
): Promise<{ category: StatusCategory; id: string | null }> {
  const found = await trx
    .selectFrom('ticket_statuses')
    .select('id')
    .where(ofAgent(ref))
    .where('category', '=', category)
    .where('is_default', '=', true)
    .executeTakeFirst()
  return { category, id: found?.id ?? null }
}

/**
 * Changes a ticket whose row is locked and adds an event to it for each change. Returns the
 * new row. Equal values are not changes. The caller notifies those who follow the help desk.
 */
export async function applyTicketChange(
  trx: Trx,
  ticket: TicketRow,
  change: Change,
  doneBy: Doer,
): Promise<TicketRow> {
  const events = eventsOf(ticket, change)
  const isLinked = change.conversationId !== undefined && change.conversationId !== ticket.conversation_id
  const isWoken = change.wakesAt === null && ticket.wakes_at !== null
  if (events.length === 0 && !isLinked && !isWoken) return ticket
  const { status } = change
  const row = await trx
    .updateTable('tickets')
    .set({
      ...(status
        ? {
            status_category: status.category,
            status_id: status.id,
            handed_back: change.handedBack ?? false,
            ...(status.category === ticket.status_category ? {} : { wakes_at: null }),
            waiting_since: waitingSince(ticket, status.category),
            // What is open again is no spam.
            ...(isOver(status.category) ? {} : { spam_at: null }),
          }
        : {}),
      ...(change.assigneeId === undefined ? {} : { assignee_id: change.assigneeId }),
      ...(change.teamId === undefined ? {} : { team_id: change.teamId }),
      ...(change.priority === undefined ? {} : { priority: change.priority }),
      ...(change.conversationId === undefined ? {} : { conversation_id: change.conversationId }),
      ...(change.wakesAt === undefined ? {} : { wakes_at: change.wakesAt }),
      updated_at: sql<Date>`clock_timestamp()`,
    })
    .where(ownRow(ticket.account_id, ticket.id))
    .returningAll()
    .executeTakeFirstOrThrow()
  if (isLinked && row.conversation_id !== null) await noteTicket(trx, row.account_id, row.conversation_id)
  if (events.length > 0) {
    const person = await personsOf(trx, ticket, [doneBy, ticket.assignee_id, row.assignee_id])
    for (const event of events) {
      const assigned =
        'assignedTo' in event
          ? { assignedFrom: person(event.assignedFrom), assignedTo: person(event.assignedTo) }
          : {}
      const metadata = { ...event, ...assigned, doneBy: person(doneBy) }
      await addTicketMessage(trx, ticket, { type: 'event', sender: null, metadata })
    }
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

const waitingSince = (ticket: TicketRow, category: StatusCategory): Date | null =>
  WAITING.includes(category) ? (ticket.waiting_since ?? new Date()) : null

type Person = {
  id: string | null
  name: string | null
  email: string | null
  type: 'agent' | 'customer' | 'system'
}

/** Those who are not members: the customer, the service, or a program that uses the API. */
export const noMember = (doer: 'customer' | 'system' | 'api'): Person => ({
  id: null,
  name: doer === 'api' ? 'API' : null,
  email: null,
  type: doer === 'customer' ? 'customer' : 'system',
})

/** Returns the name of a member or of another actor for an event, or null for nobody. */
async function personsOf(trx: Trx, { account_id }: TicketRow, doers: (Doer | null)[]) {
  const ids = doers.filter((doer) => doer !== null && isId(doer))
  const members =
    ids.length === 0
      ? []
      : await trx
          .selectFrom('members')
          .select(['id', 'name', 'email'])
          .where('account_id', '=', account_id)
          .where('id', 'in', ids)
          .execute()
  return (doer: Doer | null | undefined): Person | null => {
    if (doer === null || doer === undefined) return null
    if (doer === 'customer' || doer === 'system' || doer === 'api') return noMember(doer)
    const member = members.find(({ id }) => id === doer)
    return { id: doer, name: member?.name ?? null, email: member?.email ?? null, type: 'agent' }
  }
}

type TicketEvent = { eventType: string; assignedFrom?: string | null; assignedTo?: string | null }

function eventsOf(
  ticket: TicketRow,
  { status, assigneeId, teamId, priority, wakesAt }: Change,
): TicketEvent[] {
  const isMoved =
    status &&
    (status.category !== ticket.status_category || (status.id !== null && status.id !== ticket.status_id))
  return [
    isMoved && {
      eventType: 'status_change',
      statusFrom: ticket.status_category,
      statusTo: status.category,
      statusIdFrom: ticket.status_id,
      statusIdTo: status.id,
    },
    assigneeId !== undefined &&
      assigneeId !== ticket.assignee_id && {
        eventType: 'assign',
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
    wakesAt &&
      wakesAt.getTime() !== ticket.wakes_at?.getTime() && {
        eventType: 'snoozed',
        wakesAt: wakesAt.toISOString(),
      },
  ].filter((event) => event !== false && event !== undefined && event !== null)
}
