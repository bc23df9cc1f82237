import { type RawBuilder, sql } from 'kysely'
import type { Trx } from '../db/database.ts'
import type { AccountId } from '../db/tables.ts'
import { ApiError } from '../http/errors.ts'
import type { MessageRow } from './queries.ts'

/**
 * On channels messages come whenever they come, also while an answer is being made: it is not enough to look at who
 * spoke last. A customer's message is answered when a reply was stored for it or a later one, or when a person has
 * spoken after it.
 */

/** Whether the message, a user's, is answered; for messages and generations of one conversation. */
export const isAnswered = (
  conversationId: string | RawBuilder<unknown>,
  seq: number | RawBuilder<unknown>,
) => sql<boolean>`(
  exists (
    select from generations join messages as asked on asked.id = generations.user_message_id
    where generations.conversation_id = ${conversationId} and asked.conversation_id = ${conversationId}
      and asked.seq >= ${seq} and generations.message_state <> 'none'
  ) or exists (
    select from messages as said
    where said.conversation_id = ${conversationId} and said.seq > ${seq} and said.metadata ? 'author'
  ))`

/** The id of the customer's newest message, as a part of a query. */
export const newestAsked = (accountId: AccountId, conversationId: string) => sql<string>`(
  select id from messages where account_id = ${accountId} and conversation_id = ${conversationId} and role = 'user'
  order by seq desc limit 1)`

/**
 * The newest message of the customer, and the history with everything unanswered at its end, as the model has to read
 * it. Throws CHAT_NOTHING_TO_CONTINUE when all is answered. The conversation's row is locked.
 */
export async function readPending(
  trx: Trx,
  accountId: AccountId,
  conversationId: string,
  history: MessageRow[],
): Promise<{ userMessageId: string; history: MessageRow[] }> {
  // What comes before an answered one is answered; looked for from the end, where it stands nearly always.
  const { rows } = await sql<{ seq: number }>`
    select seq from messages as m
    where account_id = ${accountId} and conversation_id = ${conversationId} and role = 'user'
      and seq >= ${history[0]?.seq ?? 0} and ${isAnswered(conversationId, sql.ref('m.seq'))}
    order by seq desc limit 1`.execute(trx)
  const answeredTo = rows[0]?.seq ?? -1
  const isOpen = ({ role, seq }: MessageRow): boolean => role === 'user' && seq > answeredTo
  const open = history.filter(isOpen)
  const newest = open.at(-1)
  if (!newest) throw new ApiError('CHAT_NOTHING_TO_CONTINUE')
  return {
    userMessageId: newest.id,
    history: [...history.filter((message) => !isOpen(message)), ...open],
  }
}
