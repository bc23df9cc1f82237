import type { Static } from 'typebox'
import type { Context } from '../../context.ts'
import { type ConversationRow, requireConversation } from '../../conversations/records/queries.ts'
import { setStatus } from '../../conversations/records/set-status.ts'
import { endRequested } from '../../conversations/turn/generations.ts'
import type { Trx } from '../../platform/db/database.ts'
import type { TicketRef } from '../../platform/db/refs.ts'
import { afterCommit, transact } from '../../platform/db/statements/transact.ts'
import type { StatusCategory } from '../../platform/db/tables/helpdesk.ts'
import { spanOf } from '../../platform/http/input/dates.ts'
import { sendSurvey } from '../survey/send-survey.ts'
import { applyTicketChange, type Change, type Doer } from './apply-ticket-change.ts'
import { assigneeOf, refuseSecondOpen, statusOf, teamOf } from './check-ticket-references.ts'
import { endInside } from './end-conversation.ts'
import { publishDeskEvent } from './publish-desk-event.ts'
import type { UpdateTicket } from './schema.ts'
import { statusesOf } from './statuses.ts'
import { holdTicket, isOver, ownerOf, type TicketRow } from './ticket-queries.ts'

type Deps = Pick<Context, 'db' | 'notifier' | 'generations' | 'config'>

/**
 * Changes a ticket, all or nothing. Closing or cancelling it ends its conversation if a person has it, and closing
 * it also if the agent has it. Throws as createTicket does.
 */
export async function updateTicket(
  ctx: Deps,
  ref: TicketRef,
  body: Static<typeof UpdateTicket>,
  doneBy: Doer,
): Promise<TicketRow> {
  const { accountId, agentId } = ref
  await statusesOf(ctx.db, ref)
  const { ticket, running } = await transact(ctx.db, async (trx) => {
    const held = await holdTicket(trx, ref)
    const linked = await linkedTo(trx, ref, body.conversationId)
    const change = await changeOf(trx, held.ticket, body)
    const category = change.status?.category ?? held.ticket.status_category
    const conversationId =
      change.conversationId === undefined ? held.ticket.conversation_id : change.conversationId
    if (conversationId && !isOver(category))
      await refuseSecondOpen(trx, accountId, conversationId, held.ticket.id)
    const ticket = await applyTicketChange(trx, held.ticket, change, doneBy)
    const conversation = linked === undefined ? held.conversation : linked
    await handOn(trx, held.ticket, ticket, conversation)
    const running = await endIfOver(ctx, trx, held, ticket, conversation)
    if (ticket !== held.ticket)
      await publishDeskEvent(
        ctx,
        trx,
        { accountId, agentId },
        { type: 'ticket', data: { ticketNumber: ticket.number } },
      )
    return { ticket, running }
  })
  await afterCommit(ctx.db, async (db) => {
    for (const generationId of running) await endRequested({ ...ctx, db }, generationId, 'takeover')
  })
  return ticket
}

async function linkedTo(
  trx: Trx,
  { accountId, agentId }: TicketRef,
  conversationId: string | null | undefined,
): Promise<ConversationRow | null | undefined> {
  if (conversationId === undefined || conversationId === null) return conversationId
  return requireConversation(trx, { accountId, agentId, conversationId }, true)
}

async function changeOf(trx: Trx, ticket: TicketRow, body: Static<typeof UpdateTicket>): Promise<Change> {
  const ref = ownerOf(ticket)
  const wakesAt = typeof body.wakesAt === 'string' ? spanOf(body.wakesAt).from : body.wakesAt
  const namesStatus = body.statusId !== undefined || body.statusCategory !== undefined
  const status = await statusOf(trx, ref, namesStatus ? body : statusAfter(ticket, wakesAt))
  const assigneeId = await assigneeOf(trx, ref, body)
  const teamId = await teamOf(trx, ref, body)
  return {
    ...(status ? { status } : {}),
    ...(assigneeId === undefined ? {} : { assigneeId }),
    ...(teamId === undefined ? {} : { teamId }),
    ...(body.priority === undefined ? {} : { priority: body.priority }),
    ...(body.conversationId === undefined ? {} : { conversationId: body.conversationId }),
    ...(wakesAt === undefined ? {} : { wakesAt }),
  }
}

/** The status that goes with snoozing a ticket, and with ending that, unless the request names one. */
function statusAfter(
  ticket: TicketRow,
  wakesAt: Date | null | undefined,
): { statusCategory?: StatusCategory } {
  if (wakesAt) return { statusCategory: 'on_hold' }
  return wakesAt === null && ticket.wakes_at ? { statusCategory: 'on_you' } : {}
}

/** The new assignee of a ticket also takes over its conversation if a person has it. */
async function handOn(
  trx: Trx,
  before: TicketRow,
  ticket: TicketRow,
  conversation: ConversationRow | null,
): Promise<void> {
  const isAnothers = ticket.assignee_id !== null && ticket.assignee_id !== before.assignee_id
  if (!isAnothers || conversation?.status !== 'taken_over') return
  await setStatus(trx, ticket.account_id, conversation.id, 'taken_over', ticket.assignee_id)
}

/** Returns the replies that must be ended after the commit. */
async function endIfOver(
  ctx: Deps,
  trx: Trx,
  before: { ticket: TicketRow; conversation: ConversationRow | null },
  ticket: TicketRow,
  conversation: ConversationRow | null,
): Promise<string[]> {
  if (!isOver(ticket.status_category) || isOver(before.ticket.status_category)) return []
  const ends = conversationsEndedBy(ticket, conversation, before.conversation)
  const running: string[] = []
  for (const { id } of ends) {
    const generationId = await endInside(trx, ticket.account_id, id)
    if (generationId !== null) running.push(generationId)
  }
  if (ticket.status_category === 'closed') await sendSurvey(ctx.config, trx, ticket, conversation)
  for (const { id } of ends) {
    await publishDeskEvent(
      ctx,
      trx,
      { accountId: ticket.account_id, agentId: ticket.agent_id },
      {
        type: 'conversation',
        data: { conversationId: id },
      },
    )
  }
  return running
}

/**
 * Contract, sections 4 and 8. A conversation that a person has and that this change unlinks would not be shown by
 * any ticket.
 */
function conversationsEndedBy(
  { status_category }: TicketRow,
  conversation: ConversationRow | null,
  former: ConversationRow | null,
): ConversationRow[] {
  const isUnlinked = former?.status === 'taken_over' && former.id !== conversation?.id
  const isEnded =
    conversation?.status === 'taken_over' ||
    (conversation?.status === 'ongoing' && status_category === 'closed')
  return [...(isUnlinked ? [former] : []), ...(isEnded ? [conversation] : [])]
}
