import { sql } from 'kysely'
import type { Context } from '../../../context.ts'
import type { Trx } from '../../../db/database.ts'
import { json } from '../../../db/statements/json.ts'
import type { AttachmentNote } from '../../../db/tables/attachments.ts'
import type { AwaitedFile, InboundContent } from '../../../db/tables/channels.ts'
import type { AccountId } from '../../../db/tables/columns.ts'
import { recordEvent } from '../../../helpdesk/tickets/record-event.ts'
import { lockThread } from '../../inbound/receive-message.ts'

export type FetchedFile = { name: string; mediaType: string; bytes: Uint8Array } | null

type Place = { accountId: AccountId; inboundId: string; threadId: string }

/**
 * Puts a fetched file in the place of the awaited one, once, wherever its message stands by now; without a file (`keep`
 * answers null) the words say so. `keep` is told the conversation, when the message is in one.
 */
export async function addFile(
  ctx: Pick<Context, 'notifier'>,
  trx: Trx,
  { accountId, inboundId, threadId }: Place,
  { id, name }: AwaitedFile,
  keep: (conversationId: string | null) => Promise<AttachmentNote | null>,
): Promise<void> {
  // As takeIn does: the message is either waiting or in its conversation.
  await lockThread(trx, accountId, threadId)
  const message = await trx
    .selectFrom('inbound_messages')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('id', '=', inboundId)
    .executeTakeFirst()
  const { awaited = [], ...content }: InboundContent = message?.content ?? { text: '', attachments: [] }
  if (!message || !awaited.some((file) => file.id === id)) return
  const said = message.message_id ? await saidIn(trx, accountId, message.message_id) : undefined
  const kept = await keep(said?.conversation_id ?? null)
  const missing = `[${name}: the file could not be fetched]`
  const rest = awaited.filter((file) => file.id !== id)
  await trx
    .updateTable('inbound_messages')
    .set({
      content: json({
        ...content,
        ...(kept
          ? { attachments: [...content.attachments, kept] }
          : { text: [content.text, missing].filter(Boolean).join('\n') }),
        ...(rest.length > 0 ? { awaited: rest } : {}),
      }),
    })
    .where('account_id', '=', accountId)
    .where('id', '=', inboundId)
    .execute()
  if (!said) return
  if (kept) await addNote(trx, accountId, said.id, kept)
  else await replaceWords(trx, accountId, said.id, `[${name}]`, missing)
  await recordEvent(
    ctx,
    trx,
    { accountId: message.account_id, agentId: message.agent_id },
    {
      type: 'conversation',
      data: { conversationId: said.conversation_id },
    },
  )
}

const saidIn = (trx: Trx, accountId: AccountId, messageId: string) =>
  trx
    .selectFrom('messages')
    .select(['id', 'conversation_id'])
    .where('account_id', '=', accountId)
    .where('id', '=', messageId)
    .executeTakeFirst()

async function addNote(
  trx: Trx,
  accountId: AccountId,
  messageId: string,
  note: AttachmentNote,
): Promise<void> {
  await sql`
    update messages set metadata = jsonb_set(coalesce(metadata, '{}'), '{attachments}',
      coalesce(metadata -> 'attachments', '[]') || ${json([note])})
    where account_id = ${accountId} and id = ${messageId}`.execute(trx)
  await sql`
    update ticket_messages set attachments = attachments || ${json([note])}
    where account_id = ${accountId} and message_id = ${messageId}`.execute(trx)
}

async function replaceWords(
  trx: Trx,
  accountId: AccountId,
  messageId: string,
  before: string,
  after: string,
): Promise<void> {
  await sql`
    update messages set parts = jsonb_build_array(jsonb_build_object('type', 'text', 'text',
      replace(parts -> 0 ->> 'text', ${before}, ${after})))
    where account_id = ${accountId} and id = ${messageId}`.execute(trx)
  await sql`
    update ticket_messages set content_text = replace(content_text, ${before}, ${after})
    where account_id = ${accountId} and message_id = ${messageId}`.execute(trx)
}
