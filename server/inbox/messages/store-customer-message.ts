import { type Selectable, sql } from 'kysely'
import { giveAttachments } from '../../conversations/attachments/attachments.ts'
import { WIDGET } from '../../conversations/records/queries.ts'
import type { Trx } from '../../platform/db/database.ts'
import { ownRow } from '../../platform/db/refs.ts'
import type { AttachmentNote } from '../../platform/db/tables/attachments.ts'
import type { ReceivedMail } from '../../platform/db/tables/channels.ts'
import type { ConversationsTable } from '../../platform/db/tables/conversations.ts'
import { textAsHtml } from '../../platform/text/safety/escape-html.ts'
import { clocksAfterCustomer } from '../clocks/ticket-clocks.ts'
import { applyTicketChange, defaultStatus } from '../tickets/apply-ticket-change.ts'
import { addEvent } from '../tickets/publish-desk-event.ts'
import { isOver, openTicketOf, type TicketRow } from '../tickets/ticket-queries.ts'
import { addTicketMessage } from './add-ticket-message.ts'

type CustomerMessage = {
  /** The message of the conversation that this is a copy of. */
  messageId: string | null
  text: string
  attachments: AttachmentNote[]
  /** Of a mail: who wrote it and to whom. */
  mail?: ReceivedMail
  /** A program wrote it, so the ticket stays where it is. */
  isAutomatic?: boolean
}

type Conversation = Pick<
  Selectable<ConversationsTable>,
  | 'id'
  | 'account_id'
  | 'agent_id'
  | 'source'
  | 'user_id'
  | 'contact_id'
  | 'thread_id'
  | 'parent_conversation_id'
>

/**
 * Adds a customer's message to the ticket of its conversation, if there is one, and moves the ticket to the team:
 * on_customer, on_hold and closed become on_you. The conversation's row is locked.
 */
export async function storeCustomerMessage(
  trx: Trx,
  conversation: Conversation,
  { messageId, text, attachments, mail, isAutomatic = false }: CustomerMessage,
): Promise<void> {
  const { account_id, agent_id } = conversation
  const ticket =
    (await openTicketOf(trx, account_id, conversation.id)) ??
    (isAutomatic ? undefined : await ticketBefore(trx, conversation))
  if (!ticket) return
  const contact = conversation.contact_id
    ? await trx
        .selectFrom('contacts')
        .select(['name', 'email'])
        .where(ownRow(account_id, conversation.contact_id))
        .executeTakeFirst()
    : undefined
  const message = await addTicketMessage(trx, ticket, {
    type: 'reply',
    sender: {
      type: 'customer',
      id: conversation.user_id,
      // The ticket may know more about a customer of whom the conversation has only a user id.
      name: (contact ?? ticket.customer).name,
      email: (contact ?? ticket.customer).email,
    },
    content: textAsHtml(text),
    contentText: text,
    attachments,
    messageId,
    metadata: mail ? { mail } : null,
  })
  await keepFiles(trx, ticket, attachments)
  await trx
    .updateTable('tickets')
    .set({ last_message_at: message.created_at, updated_at: sql<Date>`clock_timestamp()` })
    .where(ownRow(account_id, ticket.id))
    .execute()
  if (isAutomatic) {
    await tellOfMessage(trx, conversation, ticket, message.id)
    return
  }
  const isWaiting = ['on_customer', 'on_hold', 'closed'].includes(ticket.status_category)
  const moved = await applyTicketChange(
    trx,
    ticket,
    {
      ...(isWaiting
        ? { status: await defaultStatus(trx, { accountId: account_id, agentId: agent_id }, 'on_you') }
        : {}),
      conversationId: conversation.id,
    },
    'customer',
  )
  await clocksAfterCustomer(trx, moved)
  await tellOfMessage(trx, conversation, ticket, message.id)
}

/** The caller publishes the notice, with its own event. */
async function tellOfMessage(
  trx: Trx,
  { account_id, agent_id }: Conversation,
  { number }: TicketRow,
  messageId: string,
): Promise<void> {
  const data = { ticketNumber: number, messageId }
  await addEvent(trx, { accountId: account_id, agentId: agent_id }, { type: 'message', data })
}

/**
 * Returns the ticket that a customer returns to: a solved one of this conversation or of the previous conversation
 * on the same channel. A ticket that was closed because the agent has the conversation again does not count, because
 * the agent answers.
 */
async function ticketBefore(trx: Trx, conversation: Conversation): Promise<TicketRow | undefined> {
  const { account_id, id, source, thread_id, parent_conversation_id } = conversation
  // Conversations of the API follow another one by what the application says.
  const isOfChannel = thread_id !== null || source === WIDGET
  const isNext = isOfChannel && parent_conversation_id !== null && (await isFirstSaid(trx, conversation))
  const places = isNext ? [id, parent_conversation_id] : [id]
  const newest = await trx
    .selectFrom('tickets')
    .selectAll()
    .where('account_id', '=', account_id)
    .where('conversation_id', 'in', places)
    .orderBy('number', 'desc')
    .limit(1)
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (!newest) return undefined
  const isSolved = newest.status_category === 'closed' && !newest.handed_back
  return isSolved || !isOver(newest.status_category) ? newest : undefined
}

/** Only the first message of a conversation takes over the ticket of the previous one. */
async function isFirstSaid(trx: Trx, { account_id, id }: Conversation): Promise<boolean> {
  const answered = await trx
    .selectFrom('messages')
    .select('id')
    .where('account_id', '=', account_id)
    .where('conversation_id', '=', id)
    .where('role', '=', 'assistant')
    .limit(1)
    .executeTakeFirst()
  return answered === undefined
}

async function keepFiles(trx: Trx, ticket: TicketRow, attachments: AttachmentNote[]): Promise<void> {
  const ids = attachments.map(({ id }) => id)
  await giveAttachments(trx, ticket.account_id, ids, { ticket_id: ticket.id })
}
