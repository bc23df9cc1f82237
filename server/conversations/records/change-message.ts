import { sql } from 'kysely'
import type { Db } from '../../platform/db/database.ts'
import { isId } from '../../platform/db/ids.ts'
import { json } from '../../platform/db/statements/json.ts'
import type { AttachmentNote } from '../../platform/db/tables/attachments.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import type { DeliveryStatus } from '../../platform/db/tables/deliveries.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { dropPromptsWith } from '../explanations/record-answer.ts'
import { dropCasesOf } from '../playground/answer-tests/cases/origins.ts'
import type { MessageRow } from './queries.ts'

/** Merges members into the metadata of messages. */
export async function extendMetadata(
  db: Db,
  accountId: AccountId,
  messageIds: readonly string[],
  members: object,
): Promise<void> {
  await sql`
    update messages set metadata = coalesce(metadata, '{}') || ${json(members)}::jsonb
    where account_id = ${accountId} and id = any(${messageIds}::uuid[])`.execute(db)
}

/** Notes at a message of a channel that it was not delivered, or not to everybody; null removes the note. */
export async function noteDelivery(
  db: Db,
  accountId: AccountId,
  messageId: string,
  delivery: { status: DeliveryStatus; error: string | null } | null,
): Promise<void> {
  await sql`
    update messages set metadata = coalesce(metadata, '{}') - 'delivery' || ${json(delivery ? { delivery } : {})}::jsonb
    where account_id = ${accountId} and id = ${messageId}
      and (${delivery !== null} or metadata -> 'delivery' is not null)`.execute(db)
}

export async function addAttachment(
  trx: Db,
  accountId: AccountId,
  messageId: string,
  note: AttachmentNote,
): Promise<void> {
  await sql`
    update messages set metadata = jsonb_set(coalesce(metadata, '{}'), '{attachments}',
      coalesce(metadata -> 'attachments', '[]') || ${json([note])})
    where account_id = ${accountId} and id = ${messageId}`.execute(trx)
}

/** Replaces a part of the message's text. */
export async function replaceText(
  trx: Db,
  accountId: AccountId,
  messageId: string,
  before: string,
  after: string,
): Promise<void> {
  await sql`
    update messages set parts = jsonb_build_array(jsonb_build_object('type', 'text', 'text',
      replace(parts -> 0 ->> 'text', ${before}, ${after})))
    where account_id = ${accountId} and id = ${messageId}`.execute(trx)
}

/**
 * Lets what is being stored of an answer be stored first, so that it is found, or read the change, and drops the summary
 * of the history that was made of the message.
 */
async function lockConversationOf(trx: Db, accountId: AccountId, messageId: string): Promise<void> {
  const conversation = sql`(select conversation_id from messages
    where account_id = ${accountId} and id = ${messageId}::uuid)`
  await sql`select id from conversations where account_id = ${accountId} and id = ${conversation}
    for no key update`.execute(trx)
  await sql`update conversations set history_summary = null, summarised_seq = 0
    where account_id = ${accountId} and id = ${conversation} and summarised_seq >= (select seq from messages
      where account_id = ${accountId} and id = ${messageId}::uuid)`.execute(trx)
}

/** Replaces the text of a message that its author has edited. */
export async function storeEdit(
  trx: Db,
  accountId: AccountId,
  messageId: string,
  { text, editedAt }: { text: string; editedAt: string },
): Promise<void> {
  await lockConversationOf(trx, accountId, messageId)
  await sql`
    update messages set parts = ${json([{ type: 'text', text }])}::jsonb,
      metadata = coalesce(metadata, '{}') || ${json({ editedAt })}::jsonb
    where account_id = ${accountId} and id = ${messageId}`.execute(trx)
  await dropPromptsWith(trx, accountId, messageId)
}

/**
 * Removes the content of a message that its author has deleted, and what was made of its words: prompts that hold them
 * and the entry of the search at once, which is indexed again without it, the title of its conversation, and the cases
 * of tests that were made of the conversation. A deleted message is no question: what was asked before it is the newest
 * question again.
 */
export async function storeDeletion(
  trx: Db,
  accountId: AccountId,
  { id, conversation_id: conversationId }: { id: string; conversation_id: string },
  deletedAt: string,
): Promise<void> {
  await lockConversationOf(trx, accountId, id)
  await sql`
    update messages set parts = '[]', metadata = ${json({ deletedAt })}::jsonb
    where account_id = ${accountId} and id = ${id}`.execute(trx)
  await dropPromptsWith(trx, accountId, id)
  await dropCasesOf(trx, accountId, [conversationId])
  await sql`delete from conversation_search where account_id = ${accountId} and conversation_id = ${conversationId}`.execute(
    trx,
  )
  await sql`delete from unanswered_questions where account_id = ${accountId} and message_id = ${id}`.execute(
    trx,
  )
  await sql`
    update conversations set
      title = case when exists (select from messages where account_id = ${accountId} and id = ${id}
        and seq = (select min(seq) from messages where account_id = ${accountId} and conversation_id = ${conversationId})) then null else title end,
      asked_seq = greatest(answered_seq, coalesce((select max(seq) from messages where account_id = ${accountId}
        and conversation_id = ${conversationId} and role = 'user' and metadata ->> 'deletedAt' is null), 0))
    where account_id = ${accountId} and id = ${conversationId}`.execute(trx)
}

/** Sets or clears the rating of an assistant message; RESOURCE_MESSAGE_NOT_FOUND, RESOURCE_MESSAGE_NOT_ASSISTANT. */
export async function rateMessage(
  db: Db,
  accountId: AccountId,
  { conversationId, messageId }: { conversationId: string; messageId: string },
  feedback: 'positive' | 'negative' | null,
): Promise<MessageRow> {
  if (!isId(messageId)) throw new ApiError('RESOURCE_MESSAGE_NOT_FOUND')
  const row = await db
    .updateTable('messages')
    .set((eb) => ({
      feedback: eb.case().when('role', '=', 'assistant').then(feedback).else(eb.ref('feedback')).end(),
    }))
    .where('account_id', '=', accountId)
    .where('conversation_id', '=', conversationId)
    .where('id', '=', messageId)
    .returningAll()
    .executeTakeFirst()
  if (!row) throw new ApiError('RESOURCE_MESSAGE_NOT_FOUND')
  if (row.role !== 'assistant') throw new ApiError('RESOURCE_MESSAGE_NOT_ASSISTANT')
  return row
}
