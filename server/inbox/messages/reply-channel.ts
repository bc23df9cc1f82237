import type { ConversationRow } from '../../conversations/records/queries.ts'
import type { Trx } from '../../platform/db/database.ts'
import type { ChannelName } from '../../platform/db/tables/channels.ts'
import { threadOf } from '../deliveries/enqueue-delivery.ts'
import type { TicketRow } from '../tickets/ticket-queries.ts'

/** Returns how the customer can be reached: by the conversation's thread or by a mail to the ticket's address. */
export async function replyChannel(
  trx: Trx,
  ticket: TicketRow,
  conversation: ConversationRow | null,
): Promise<{ channel: ChannelName; threadId: string | null } | null> {
  const thread = conversation ? await threadOf(trx, ticket.account_id, conversation.thread_id) : null
  if (thread) return { channel: thread.channel, threadId: thread.id }
  return conversation === null && ticket.customer.email ? { channel: 'email', threadId: null } : null
}
