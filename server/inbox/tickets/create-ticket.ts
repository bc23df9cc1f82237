import type { Static } from 'typebox'
import { requireAgent } from '../../agents/records/find-agent.ts'
import type { Context } from '../../context.ts'
import { requireConversation } from '../../conversations/records/queries.ts'
import type { Trx } from '../../platform/db/database.ts'
import { type AgentRef, ofAgent } from '../../platform/db/refs.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import type { Customer } from '../../platform/db/tables/helpdesk.ts'
import { assigneeOf, refuseSecondOpen, statusOf, teamOf } from './check-ticket-references.ts'
import { insertTicket, ticketChannel } from './open-ticket.ts'
import { publishDeskEvent } from './publish-desk-event.ts'
import type { CreateTicket } from './schema.ts'
import { ensureStatuses } from './statuses.ts'
import { isOver, type TicketRow } from './ticket-queries.ts'

/**
 * Opens a ticket by hand. Throws TICKET_INVALID_STATUS, TICKET_TEAM_NOT_FOUND, TICKET_TEAM_MEMBER_NOT_FOUND, and
 * RESOURCE_NOT_FOUND or RESOURCE_DUPLICATE for a conversation that does not exist or has an open ticket.
 */
export async function createTicket(
  ctx: Pick<Context, 'db' | 'notifier'>,
  ref: AgentRef,
  body: Static<typeof CreateTicket>,
): Promise<TicketRow> {
  const { accountId, agentId } = ref
  const { conversationId = null } = body
  return transact(ctx.db, async (trx) => {
    const conversation = conversationId
      ? await requireConversation(trx, { accountId, agentId, conversationId }, true)
      : null
    await requireAgent(trx, { accountId, agentId }, 'update')
    await ensureStatuses(trx, ref)
    const status = (await statusOf(trx, ref, body)) ?? { category: 'new' as const, id: null }
    const teamId = (await teamOf(trx, ref, body)) ?? null
    const assigneeId = await assigneeOf(trx, ref, body)
    if (conversation && !isOver(status.category))
      await refuseSecondOpen(trx, accountId, conversation.id, null)
    const ticket = await insertTicket(trx, {
      accountId,
      agentId,
      conversationId: conversation?.id ?? null,
      subject: body.subject,
      description: body.description,
      customer: await customerOf(trx, ref, body.customer),
      channel: conversation ? await ticketChannel(trx, ref, conversation.source) : 'helpdesk',
      status: status.category,
      statusId: status.id,
      teamId,
      priority: body.priority ?? 'none',
      assigneeId: assigneeId === undefined && isOver(status.category) ? null : assigneeId,
    })
    await publishDeskEvent(
      ctx,
      trx,
      { accountId, agentId },
      { type: 'ticket', data: { ticketNumber: ticket.number } },
    )
    return ticket
  })
}

/** A contact with this address gives the customer its name. */
export async function customerOf(
  trx: Trx,
  ref: AgentRef,
  { email, name }: { email: string; name?: string },
): Promise<Customer> {
  const contact = await trx
    .selectFrom('contacts')
    .select(['external_id', 'name', 'phonenumber'])
    .where(ofAgent(ref))
    .where((eb) => eb(eb.fn<string>('lower', ['email']), '=', email.toLowerCase()))
    .orderBy('created_at')
    .limit(1)
    .executeTakeFirst()
  return {
    id: contact?.external_id ?? null,
    name: name ?? contact?.name ?? null,
    email,
    phoneNumber: contact?.phonenumber ?? null,
  }
}
