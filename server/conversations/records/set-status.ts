import { sql } from 'kysely'
import type { Db, Trx } from '../../platform/db/database.ts'
import { type ConversationRef, ownRow } from '../../platform/db/refs.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import type { ConversationStatus } from '../../platform/db/tables/conversations.ts'
import { type ConversationRow, notOngoing, requireConversation } from './queries.ts'

type Which = Pick<ConversationRow, 'id' | 'account_id'>

/** A conversation that a person took over or a ticket was opened for stays escalated, whatever follows. */
const escalation = (status: ConversationStatus) => (status === 'taken_over' ? { escalated: true } : {})

/** Sets the status of a conversation whose row is locked, and the member who has taken it over. */
export async function setStatus(
  trx: Trx,
  accountId: AccountId,
  conversationId: string,
  status: ConversationStatus,
  memberId: string | null,
): Promise<void> {
  await trx
    .updateTable('conversations')
    .set({ status, ...escalation(status), taken_over_by: memberId, updated_at: sql<Date>`now()` })
    .where(ownRow(accountId, conversationId))
    .execute()
}

/** Sets the status of a conversation in which nothing has happened yet, so it does not count as changed. */
export async function setFirstStatus(
  trx: Trx,
  { id, account_id }: Which,
  status: ConversationStatus,
): Promise<void> {
  await trx
    .updateTable('conversations')
    .set({ status, ...escalation(status) })
    .where(ownRow(account_id, id))
    .execute()
}

/** Notes that a ticket was opened for a conversation, or linked to it. */
export async function noteTicket(trx: Trx, accountId: AccountId, conversationId: string): Promise<void> {
  await trx
    .updateTable('conversations')
    .set({ escalated: true })
    .where(ownRow(accountId, conversationId))
    .where('escalated', '=', false)
    .execute()
}

/** Pauses a conversation unless its status has changed meanwhile. Returns whether it was paused. */
export async function pauseIfOngoing(trx: Trx, { id, account_id }: Which): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('conversations')
    .set({ status: 'paused' })
    .where(ownRow(account_id, id))
    .where('status', '=', 'ongoing')
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Notes that the customer has dictated a message. */
export async function noteVoice(trx: Trx, { id, account_id }: Which): Promise<void> {
  await trx.updateTable('conversations').set({ has_voice: true }).where(ownRow(account_id, id)).execute()
}

/**
 * Pauses or resumes a conversation; does nothing if it is already in the requested state. A reply in progress is
 * completed. Throws CHAT_CONVERSATION_NOT_ONGOING when a person has taken it over or it has ended.
 */
export async function pauseConversation(
  db: Db,
  { accountId, agentId, conversationId }: ConversationRef,
  paused: boolean,
): Promise<'ongoing' | 'paused'> {
  const wanted = paused ? 'paused' : 'ongoing'
  return transact(db, async (trx) => {
    const { id, status } = await requireConversation(trx, { accountId, agentId, conversationId }, true)
    if (status !== 'ongoing' && status !== 'paused') throw notOngoing(status)
    if (status !== wanted) {
      await trx.updateTable('conversations').set({ status: wanted }).where(ownRow(accountId, id)).execute()
    }
    return wanted
  })
}
