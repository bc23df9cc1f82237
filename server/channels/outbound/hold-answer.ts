import type { HeldAnswer } from '../../conversations/turn/end-turn.ts'
import { addTicketMessage, noteMessage } from '../../inbox/messages/add-ticket-message.ts'
import { renderMarkdown } from '../../inbox/messages/render/render-markdown.ts'
import { ensureTicketOf } from '../../inbox/tickets/open-ticket.ts'
import { publishDeskEvent } from '../../inbox/tickets/publish-desk-event.ts'
import type { Trx } from '../../platform/db/database.ts'
import type { Notifier } from '../../platform/db/notifier.ts'
import type { AgentRef } from '../../platform/db/refs.ts'

/**
 * Puts an answer that is held for a person into the ticket of its conversation, as a note that only the team sees.
 * Returns the last step of the transaction, which tells the help desk.
 */
export async function holdAnswer(
  ctx: { notifier: Pick<Notifier, 'publish'> },
  trx: Trx,
  { accountId, agentId }: AgentRef,
  { conversationId, messageId }: { conversationId: string; messageId: string },
  { text, ungrounded }: HeldAnswer,
): Promise<() => Promise<void>> {
  const ticket = await ensureTicketOf(
    trx,
    { accountId, agentId, conversationId },
    'An answer was held for a person.',
  )
  const note = await addTicketMessage(trx, ticket, {
    type: 'note',
    sender: { type: 'system', id: null, name: null, email: null },
    content: renderMarkdown(text),
    contentText: text,
    metadata: { held: { messageId, ungrounded } },
  })
  await noteMessage(trx, ticket, note)
  const data = { ticketNumber: ticket.number, messageId: note.id }
  return () => publishDeskEvent(ctx, trx, { accountId, agentId }, { type: 'message', data })
}
