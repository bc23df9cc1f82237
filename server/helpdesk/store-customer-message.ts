import { type Selectable, sql } from 'kysely'
import type { Trx } from '../db/database.ts'
import { newId } from '../db/ids.ts'
import { json } from '../db/json.ts'
import type { AttachmentNote, ConversationsTable, StatusCategory } from '../db/tables.ts'
import { openTicketOf } from './open-ticket.ts'

export type CustomerMessage = {
  /** The message of the conversation that says the same. */
  messageId: string | null
  text: string
  attachments: AttachmentNote[]
}

/**
 * Puts a customer's message on the open ticket of its conversation, if there is one, and moves the ticket to the
 * team: on_customer, on_hold and closed become on_you (contract, section 8). The conversation's row is locked.
 */
export async function storeCustomerMessage(
  trx: Trx,
  conversation: Pick<
    Selectable<ConversationsTable>,
    'id' | 'account_id' | 'agent_id' | 'user_id' | 'contact_id'
  >,
  { messageId, text, attachments }: CustomerMessage,
): Promise<void> {
  const ticket = await openTicketOf(trx, conversation.account_id, conversation.id)
  if (!ticket) return
  const contact = conversation.contact_id
    ? await trx
        .selectFrom('contacts')
        .select(['name', 'email'])
        .where('id', '=', conversation.contact_id)
        .executeTakeFirst()
    : undefined
  await trx
    .insertInto('ticket_messages')
    .values({
      id: newId(),
      account_id: conversation.account_id,
      agent_id: conversation.agent_id,
      ticket_id: ticket.id,
      type: 'reply',
      sender: json({
        type: 'customer',
        id: conversation.user_id,
        name: contact?.name ?? null,
        email: contact?.email ?? null,
      }),
      content: null,
      content_text: text,
      attachments: json(attachments),
      metadata: null,
      message_id: messageId,
    })
    .execute()
  await trx
    .updateTable('tickets')
    .set({
      status_category: sql<StatusCategory>`case when status_category in ('on_customer', 'on_hold', 'closed') then 'on_you' else status_category end`,
      last_message_at: new Date(),
      updated_at: new Date(),
    })
    .where('account_id', '=', conversation.account_id)
    .where('id', '=', ticket.id)
    .execute()
}
