import type { Context } from '../../../context.ts'
import { addAttachment, replaceText } from '../../../conversations/records/change-message.ts'
import { addTicketAttachment, replaceTicketText } from '../../../inbox/messages/change-ticket-message.ts'
import { publishDeskEvent } from '../../../inbox/tickets/publish-desk-event.ts'
import type { Trx } from '../../../platform/db/database.ts'
import { ownRow } from '../../../platform/db/refs.ts'
import { json } from '../../../platform/db/statements/json.ts'
import type { AttachmentNote } from '../../../platform/db/tables/attachments.ts'
import type { AwaitedFile, InboundContent } from '../../../platform/db/tables/channels.ts'
import type { AccountId } from '../../../platform/db/tables/columns.ts'
import { lockThread } from '../../inbound/receive-message.ts'

export type FetchedFile = { name: string; mediaType: string; bytes: Uint8Array } | null

type Awaiting = { accountId: AccountId; inboundId: string; threadId: string }

/**
 * Replaces an awaited file by the fetched one, whether its message still waits or is already in a conversation. If
 * `keep` returns null, the text says that the file could not be fetched. `keep` is given the conversation's id, if
 * there is one. A second call for the same file does nothing.
 */
export async function addFile(
  ctx: Pick<Context, 'notifier'>,
  trx: Trx,
  { accountId, inboundId, threadId }: Awaiting,
  { id, name }: AwaitedFile,
  keep: (conversationId: string | null) => Promise<AttachmentNote | null>,
): Promise<void> {
  // processInbound takes the same lock, so the message is either waiting or in its conversation.
  await lockThread(trx, accountId, threadId)
  const message = await trx
    .selectFrom('inbound_messages')
    .selectAll()
    .where(ownRow(accountId, inboundId))
    .executeTakeFirst()
  const { awaited = [], ...content }: InboundContent = message?.content ?? { text: '', attachments: [] }
  if (!message || !awaited.some((file) => file.id === id)) return
  const stored = message.message_id ? await findMessage(trx, accountId, message.message_id) : undefined
  const kept = await keep(stored?.conversation_id ?? null)
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
    .where(ownRow(accountId, inboundId))
    .execute()
  if (!stored) return
  if (kept) {
    await addAttachment(trx, accountId, stored.id, kept)
    await addTicketAttachment(trx, accountId, stored.id, kept)
  } else {
    await replaceText(trx, accountId, stored.id, `[${name}]`, missing)
    await replaceTicketText(trx, accountId, stored.id, `[${name}]`, missing)
  }
  await publishDeskEvent(
    ctx,
    trx,
    { accountId: message.account_id, agentId: message.agent_id },
    {
      type: 'conversation',
      data: { conversationId: stored.conversation_id },
    },
  )
}

const findMessage = (trx: Trx, accountId: AccountId, messageId: string) =>
  trx
    .selectFrom('messages')
    .select(['id', 'conversation_id'])
    .where(ownRow(accountId, messageId))
    .executeTakeFirst()
