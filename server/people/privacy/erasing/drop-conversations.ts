import { sql } from 'kysely'
import { dropCasesOf } from '../../../conversations/playground/answer-tests/cases/origins.ts'
import type { Trx } from '../../../platform/db/database.ts'
import type { AccountId } from '../../../platform/db/tables/columns.ts'
import type { Jobs } from '../../../platform/jobs/jobs.ts'
import { dropFiles } from './drop-files.ts'
import { dropTickets } from './drop-tickets.ts'
import { dropUnanswered } from './drop-unanswered.ts'

export type Dropped = { conversations: number; messages: number; leads: number; tickets: number }

/**
 * Deletes conversations with everything that depends on them. What foreign keys do not delete is deleted first: leads,
 * tickets and what was learned from them, cases of tests, files, inbound messages of channels, logs of replies, stored
 * responses, and references from other conversations.
 */
export async function dropConversations(
  trx: Trx,
  jobs: Pick<Jobs, 'enqueue'>,
  accountId: AccountId,
  wanted: readonly string[],
): Promise<Dropped> {
  // Lock them first: a writer in one of them finishes before, and a later one finds nothing.
  const { rows } = await sql<{ id: string }>`
    select id from conversations where account_id = ${accountId} and id = any(${wanted}::uuid[])
    order by id for update`.execute(trx)
  const ids = rows.map(({ id }) => id)
  if (ids.length === 0) return { conversations: 0, messages: 0, leads: 0, tickets: 0 }
  const tickets = await trx
    .selectFrom('tickets')
    .select(['id', 'agent_id', 'number'])
    .where('account_id', '=', accountId)
    .where('conversation_id', 'in', ids)
    .execute()
  await dropTickets(trx, jobs, accountId, tickets)
  await dropFiles(trx, jobs, accountId, { conversationIds: ids })
  await dropUnanswered(trx, accountId, ids)
  await dropCasesOf(trx, accountId, ids)
  const leads = await trx
    .deleteFrom('leads')
    .where('account_id', '=', accountId)
    .where('conversation_id', 'in', ids)
    .executeTakeFirst()
  await dropAnswers(trx, accountId, ids)
  await trx
    .updateTable('conversations')
    .set({ parent_conversation_id: null, parent_summary: null })
    .where('account_id', '=', accountId)
    .where('parent_conversation_id', 'in', ids)
    .where('id', 'not in', ids)
    .execute()
  const { n } = await trx
    .selectFrom('messages')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('account_id', '=', accountId)
    .where('conversation_id', 'in', ids)
    .executeTakeFirstOrThrow()
  await trx.deleteFrom('conversations').where('account_id', '=', accountId).where('id', 'in', ids).execute()
  return {
    conversations: ids.length,
    messages: n,
    leads: Number(leads.numDeletedRows),
    tickets: tickets.length,
  }
}

/** Deletes copies of the content, which are kept for readers of replies and for repeated requests and messages. */
async function dropAnswers(trx: Trx, accountId: AccountId, ids: string[]): Promise<void> {
  await sql`
    delete from generation_log where generation_id in
      (select id from generations where account_id = ${accountId} and conversation_id = any(${ids}::uuid[]))`.execute(
    trx,
  )
  await sql`
    delete from inbound_messages where account_id = ${accountId}
      and thread_id in (select thread_id from conversations where account_id = ${accountId} and id = any(${ids}::uuid[]))
      and message_id in (select id from messages where account_id = ${accountId} and conversation_id = any(${ids}::uuid[]))`.execute(
    trx,
  )
  await sql`
    delete from requests where account_id = ${accountId} and (
      generation_id in
        (select id from generations where account_id = ${accountId} and conversation_id = any(${ids}::uuid[]))
      or answer is not null and exists (
        select from unnest(${ids}::text[]) as id where position(id in answer) > 0))`.execute(trx)
}

/** The most messages deleted in one transaction; a conversation with more is deleted in pieces. */
export const PIECE = 2_000

/**
 * Deletes the oldest messages of a conversation that has more than one transaction should delete. Returns their number.
 */
export async function shortenConversation(trx: Trx, accountId: AccountId, id: string): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from messages where account_id = ${accountId} and conversation_id = ${id} and seq < (
      select seq from messages where account_id = ${accountId} and conversation_id = ${id} order by seq offset ${PIECE} limit 1)`.execute(
    trx,
  )
  return Number(numAffectedRows ?? 0n)
}
