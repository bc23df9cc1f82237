import type { ConversationRow } from '../../conversations/records/queries.ts'
import type { Db } from '../../platform/db/database.ts'
import type { ChannelName, MailPeople } from '../../platform/db/tables/channels.ts'
import { mailAddress } from '../../platform/mail/mail-address.ts'
import { threadOf } from '../deliveries/enqueue-delivery.ts'
import { peopleOfThread } from '../deliveries/mail-people.ts'
import type { TicketRow } from '../tickets/ticket-queries.ts'

/** `people` are those whom a mail goes to unless others are chosen; null on other channels. */
export type ReplyChannel = { channel: ChannelName; threadId: string | null; people: MailPeople | null }

/** Returns how the customer can be reached: by the conversation's thread or by a mail to the ticket's address. */
export async function replyChannel(
  trx: Db,
  ticket: TicketRow,
  conversation: ConversationRow | null,
): Promise<ReplyChannel | null> {
  const thread = conversation ? await threadOf(trx, ticket.account_id, conversation.thread_id) : null
  if (thread) return { channel: thread.channel, threadId: thread.id, people: peopleOfThread(thread) }
  const { email, name } = ticket.customer
  const address = mailAddress(email ?? undefined)
  return conversation === null && address
    ? { channel: 'email', threadId: null, people: { to: [{ address, name }], cc: [], bcc: [] } }
    : null
}
