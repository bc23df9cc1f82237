import { offersAction } from '../../actions/definitions/offers-action.ts'
import { requireAgent } from '../../agents/records/find-agent.ts'
import { channelNames } from '../../agents/settings/channel-names.ts'
import { chatChannel } from '../../agents/settings/chat-channel.ts'
import { WIDGET } from '../../conversations/records/queries.ts'
import { ensureTicketOf } from '../../inbox/tickets/open-ticket.ts'
import { publishDeskEvent } from '../../inbox/tickets/publish-desk-event.ts'
import type { Trx } from '../../platform/db/database.ts'
import type { Notifier } from '../../platform/db/notifier.ts'
import type { AgentRef } from '../../platform/db/refs.ts'

/**
 * Opens a ticket for what the agent could not answer, unless one is open, if the agent may hand over to
 * people on that channel. Returns the last step of the transaction, which tells the help desk; null if nobody is asked.
 * An application that uses the API handles answers without words itself.
 */
export async function askPeople(
  ctx: { notifier: Pick<Notifier, 'publish'> },
  trx: Trx,
  { accountId, agentId }: AgentRef,
  { conversationId, source }: { conversationId: string; source: string },
  description: string,
): Promise<(() => Promise<void>) | null> {
  const channel =
    source === WIDGET
      ? chatChannel(await requireAgent(trx, { accountId, agentId }))
      : channelNames.find((names) => names.source === source)?.settings
  if (!channel || !(await offersAction(trx, { accountId, agentId }, channel, 'escalate'))) return null
  const ticket = await ensureTicketOf(trx, { accountId, agentId, conversationId }, description)
  return () =>
    publishDeskEvent(
      ctx,
      trx,
      { accountId, agentId },
      { type: 'ticket', data: { ticketNumber: ticket.number } },
    )
}
