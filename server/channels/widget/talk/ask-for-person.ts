import type { Context } from '../../../context.ts'
import { openTicket } from '../../../inbox/tickets/open-ticket.ts'
import { publishDeskEvent } from '../../../inbox/tickets/publish-desk-event.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import { offersVisitors } from '../page/appearance.ts'
import { requireOwnConversation, type Visit } from '../visitors/visitor.ts'
import { beginConversation } from './store-message.ts'

/**
 * Opens a ticket for a visitor who asks for a person, in the given conversation or a new one, unless one is open
 * already. Throws RESOURCE_NOT_FOUND for an unknown conversation, and when the agent may not escalate.
 */
export async function askForPerson(
  ctx: Pick<Context, 'db' | 'notifier'>,
  visit: Visit,
  { conversationId, country, page }: { conversationId?: string; country: string | null; page?: string },
): Promise<string> {
  const { account_id: accountId, id: agentId } = visit.agent
  if (!(await offersVisitors(ctx.db, visit.agent, 'escalate')))
    throw new ApiError('RESOURCE_NOT_FOUND', { message: 'This agent does not hand visitors over to people.' })
  return transact(ctx.db, async (trx) => {
    const named =
      conversationId === undefined ? null : await requireOwnConversation(trx, visit, conversationId, true)
    const conversation =
      named && named.status !== 'ended'
        ? named
        : await beginConversation(trx, visit, { title: null, country, page }, named)
    await openTicket(ctx, trx, {
      accountId,
      agentId,
      conversationId: conversation.id,
      subject: conversation.title,
      description: 'The visitor asked for a person.',
      customer: { id: visit.visitorId, name: null, email: null, phoneNumber: null },
      assigneeId: null,
    })
    // Opening the ticket locks the agent, which must be locked before the stream of events.
    const data = { conversationId: conversation.id }
    await publishDeskEvent(ctx, trx, { accountId, agentId }, { type: 'conversation', data })
    return conversation.id
  })
}
