import type { Insertable, Selectable } from 'kysely'
import type { Db, Trx } from '../../platform/db/database.ts'
import { isId, newId } from '../../platform/db/ids.ts'
import { type ConversationRef, ofAgent } from '../../platform/db/refs.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import type { ConversationsTable, MessagesTable } from '../../platform/db/tables/conversations.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { shorten, shortenAtWord } from '../../platform/text/words/words.ts'
import { textOf } from './parts.ts'

export type ConversationRow = Selectable<ConversationsTable>
export type MessageRow = Selectable<MessagesTable>

/** The part of a stored message that a model reads. */
export type TranscriptMessage = Pick<MessageRow, 'role' | 'parts'> &
  Partial<Pick<MessageRow, 'id' | 'seq' | 'metadata' | 'created_at'>>

/** The conversation that another one continues; `messages` are its last messages, oldest first. */
export type Parent = { id: string; summary: string; messages: TranscriptMessage[] }

/** The value of conversations.source for chats on a website. */
export const WIDGET = 'Widget or Iframe'
/**
 * The source of conversations in which team members try out an agent. Customer lists and figures leave it out unless it
 * is requested by name.
 */
export const PLAYGROUND = 'Playground'

/** Returns the agent's conversation from any source. Throws RESOURCE_NOT_FOUND. */
export async function requireConversation(
  db: Db,
  { accountId, agentId, conversationId }: ConversationRef,
  lock = false,
): Promise<ConversationRow> {
  if (!isId(conversationId)) throw noConversation()
  let query = db
    .selectFrom('conversations')
    .selectAll()
    .where(ofAgent({ accountId, agentId }))
    .where('id', '=', conversationId)
  // This lock is weaker than FOR UPDATE: rows that only refer to the conversation may still be added. Otherwise a
  // step that records its calls and a takeover could deadlock.
  if (lock) query = query.forNoKeyUpdate()
  const row = await query.executeTakeFirst()
  if (!row) throw noConversation()
  return row
}

/**
 * Returns the conversation if it was created through the API. Throws RESOURCE_NOT_FOUND, which for another source
 * names that source and the endpoint that serves it (service-api, "GET …/conversations/{conversationId}").
 */
export async function requireApiConversation(db: Db, ref: ConversationRef): Promise<ConversationRow> {
  const row = await requireConversation(db, ref)
  if (row.source !== 'API') {
    throw new ApiError('RESOURCE_NOT_FOUND', {
      message: `This conversation came from "${row.source}", not from the API. Read it with GET /agents/${ref.agentId}/conversations/export?conversationId=${ref.conversationId}.`,
    })
  }
  return row
}

const noConversation = (): ApiError =>
  new ApiError('RESOURCE_NOT_FOUND', { message: 'The conversation does not exist.' })

/** Returns CHAT_CONVERSATION_NOT_ONGOING with the status in `details`. */
export const notOngoing = (status: string): ApiError =>
  new ApiError('CHAT_CONVERSATION_NOT_ONGOING', {
    message: `The conversation is ${status.replace('_', ' ')}, not ongoing. Start a new one.`,
    details: { status },
  })

/** Returns the error for readers of an answer that its process could not finish. */
export const interrupted = (): ApiError =>
  new ApiError('SERVICE_OVERLOADED', {
    message: 'The answer was interrupted. The conversation keeps its text so far.',
  })

/** Returns the error for readers of an answer that was deleted together with its conversation. */
export const noLonger = (): ApiError =>
  new ApiError('RESOURCE_NOT_FOUND', { message: 'The conversation no longer exists.' })

/** Returns up to `limit` + 1 messages, newest first, before the message number `beforeSeq` and after `afterSeq`. */
export async function messagesBackwards(
  db: Db,
  accountId: AccountId,
  conversationId: string,
  page: { limit: number; beforeSeq: number | null; afterSeq?: number },
): Promise<MessageRow[]> {
  let query = db
    .selectFrom('messages')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('conversation_id', '=', conversationId)
  if (page.beforeSeq !== null) query = query.where('seq', '<', page.beforeSeq)
  if (page.afterSeq) query = query.where('seq', '>', page.afterSeq)
  return query
    .orderBy('seq', 'desc')
    .limit(page.limit + 1)
    .execute()
}

const MAX_TITLE_LENGTH = 80

/** Makes a title from the words of the first message: one line of at most 80 characters. */
export const titleFromWords = (message: string): string => shortenAtWord(message, MAX_TITLE_LENGTH)

/** Creates a conversation that has no messages yet. */
export const openConversation = (
  trx: Trx,
  values: Omit<Insertable<ConversationsTable>, 'id' | 'status'>,
): Promise<ConversationRow> =>
  trx
    .insertInto('conversations')
    .values({ id: newId(), status: 'ongoing', ...values })
    .returningAll()
    .executeTakeFirstOrThrow()

const PARENT_MESSAGES = 30

/**
 * Reads the parent with a summary made of its own words. Throws RESOURCE_NOT_FOUND when the agent has no such
 * conversation, or when it belongs to a user and `reader` is not that user.
 */
export async function readParent(
  db: Db,
  accountId: AccountId,
  agentId: string,
  conversationId: string,
  reader?: { userId: string | null },
): Promise<Parent> {
  const row = isId(conversationId)
    ? await db
        .selectFrom('conversations')
        .select(['id', 'user_id'])
        .where(ofAgent({ accountId, agentId }))
        .where('id', '=', conversationId)
        .executeTakeFirst()
    : undefined
  // One user must not see another user's messages.
  const isOthers = reader && row && row.user_id !== null && row.user_id !== reader.userId
  if (!row || isOthers) {
    throw new ApiError('RESOURCE_NOT_FOUND', { message: 'The parent conversation does not exist.' })
  }
  const page = { limit: PARENT_MESSAGES - 1, beforeSeq: null }
  const messages = (await messagesBackwards(db, accountId, row.id, page)).reverse()
  return { id: row.id, summary: summaryFromWords(messages), messages }
}

/** Summarises a conversation by the customer's first and last question and the last answer. */
function summaryFromWords(messages: TranscriptMessage[]): string {
  const said = (role: string) =>
    messages
      .filter((message) => message.role === role)
      .map(textOf)
      .filter(Boolean)
  const asked = said('user')
  const pieces = [
    asked[0] && `The customer asked: "${shorten(asked[0], 250)}"`,
    asked.length > 1 && `and last: "${shorten(asked.at(-1) ?? '', 250)}"`,
    said('assistant').at(-1) && `The last answer was: "${shorten(said('assistant').at(-1) ?? '', 400)}"`,
  ]
  return pieces.filter(Boolean).join(' ') || 'Nothing was said.'
}
