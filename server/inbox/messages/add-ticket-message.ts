import { type Selectable, sql } from 'kysely'
import type { Trx } from '../../platform/db/database.ts'
import { newId } from '../../platform/db/ids.ts'
import { ownRow } from '../../platform/db/refs.ts'
import { json } from '../../platform/db/statements/json.ts'
import type { AttachmentNote } from '../../platform/db/tables/attachments.ts'
import type { TicketMessagesTable, TicketSender } from '../../platform/db/tables/helpdesk.ts'
import type { TicketRow } from '../tickets/ticket-queries.ts'

export type TicketMessageRow = Selectable<TicketMessagesTable>

type NewTicketMessage = {
  type: 'reply' | 'note' | 'event'
  sender: TicketSender | null
  /** HTML. */
  content?: string | null
  contentText?: string | null
  attachments?: AttachmentNote[]
  metadata?: Record<string, unknown> | null
  /** The message of the conversation that this is a copy of. */
  messageId?: string | null
}

/** Adds a message to a ticket whose row is locked, so that the times are in the order of the rows. */
export async function addTicketMessage(
  trx: Trx,
  { id, account_id, agent_id }: Pick<TicketRow, 'id' | 'account_id' | 'agent_id'>,
  message: NewTicketMessage,
): Promise<TicketMessageRow> {
  return trx
    .insertInto('ticket_messages')
    .values({
      id: newId(),
      account_id,
      agent_id,
      ticket_id: id,
      type: message.type,
      sender: json(message.sender),
      content: message.content ?? null,
      content_text: message.contentText ?? null,
      attachments: json(message.attachments ?? []),
      metadata: json(message.metadata ?? null),
      message_id: message.messageId ?? null,
      created_at: sql<Date>`clock_timestamp()`,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Updates the ticket's time of the last message. */
export async function noteMessage(
  trx: Trx,
  ticket: Pick<TicketRow, 'id' | 'account_id'>,
  { created_at }: TicketMessageRow,
): Promise<void> {
  await trx
    .updateTable('tickets')
    .set({ last_message_at: created_at, updated_at: created_at })
    .where(ownRow(ticket.account_id, ticket.id))
    .execute()
}
