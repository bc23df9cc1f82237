import { sql } from 'kysely'
import type { Db } from '../../platform/db/database.ts'
import { json } from '../../platform/db/statements/json.ts'
import type { AttachmentNote } from '../../platform/db/tables/attachments.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'

/** Adds a file to the ticket's copy of a conversation message. */
export async function addTicketAttachment(
  trx: Db,
  accountId: AccountId,
  messageId: string,
  note: AttachmentNote,
): Promise<void> {
  await sql`
    update ticket_messages set attachments = attachments || ${json([note])}
    where account_id = ${accountId} and message_id = ${messageId}`.execute(trx)
}

/** Replaces a part of the text in the ticket's copy of a conversation message. */
export async function replaceTicketText(
  trx: Db,
  accountId: AccountId,
  messageId: string,
  before: string,
  after: string,
): Promise<void> {
  await sql`
    update ticket_messages set content_text = replace(content_text, ${before}, ${after})
    where account_id = ${accountId} and message_id = ${messageId}`.execute(trx)
}
