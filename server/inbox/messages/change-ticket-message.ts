import { sql } from 'kysely'
import type { Db } from '../../platform/db/database.ts'
import { json } from '../../platform/db/statements/json.ts'
import type { AttachmentNote } from '../../platform/db/tables/attachments.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { textAsHtml } from '../../platform/text/safety/escape-html.ts'

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

/** Replaces the text of the ticket's copy of a message that its author has edited or, with an empty text, deleted. */
export async function changeTicketCopy(
  trx: Db,
  accountId: AccountId,
  messageId: string,
  { text, mark }: { text: string | null; mark: { editedAt: string } | { deletedAt: string } },
): Promise<void> {
  const isGone = text === null
  await sql`
    update ticket_messages set content = ${text === null ? null : textAsHtml(text)}, content_text = ${text},
      attachments = case when ${isGone}::boolean then '[]'::jsonb else attachments end,
      metadata = coalesce(metadata, '{}') || ${json(mark)}::jsonb
    where account_id = ${accountId} and message_id = ${messageId}`.execute(trx)
  if (isGone)
    // The subject is the title of the conversation, which may be the words of the message.
    await sql`
      update tickets set subject = null where account_id = ${accountId} and conversation_id = (
        select conversation_id from messages where account_id = ${accountId} and id = ${messageId}
          and seq = (select min(seq) from messages as m where m.account_id = ${accountId}
            and m.conversation_id = messages.conversation_id))`.execute(trx)
}
