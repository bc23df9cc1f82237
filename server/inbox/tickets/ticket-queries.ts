import type { Selectable } from 'kysely'
import { type ConversationRow, requireConversation } from '../../conversations/records/queries.ts'
import { noteTicket } from '../../conversations/records/set-status.ts'
import type { Db, Trx } from '../../platform/db/database.ts'
import { type AgentRef, ofAgent, ownRow, type TicketRef } from '../../platform/db/refs.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import type { StatusCategory, TicketsTable } from '../../platform/db/tables/helpdesk.ts'
import { ApiError } from '../../platform/http/errors.ts'

export type TicketRow = Selectable<TicketsTable>

export const ownerOf = ({ account_id, agent_id }: TicketRow): AgentRef => ({
  accountId: account_id,
  agentId: agent_id,
})

export const OVER: readonly StatusCategory[] = ['closed', 'cancelled']
export const isOver = (category: StatusCategory): boolean => OVER.includes(category)

/** The statuses in which a ticket waits for the team. */
export const WAITING: readonly StatusCategory[] = ['new', 'on_you']

/** Returns the agent's ticket with this number. Throws TICKET_NOT_FOUND. */
export async function requireTicket(
  db: Db,
  { accountId, agentId, ticketNumber }: TicketRef,
  lock = false,
): Promise<TicketRow> {
  let query = db
    .selectFrom('tickets')
    .selectAll()
    .where(ofAgent({ accountId, agentId }))
    .where('number', '=', ticketNumber)
  if (lock) query = query.forNoKeyUpdate()
  const row = await query.executeTakeFirst()
  if (!row) throw new ApiError('TICKET_NOT_FOUND')
  return row
}

const MAX_LOOKS = 5

/** Locks and returns the ticket with its conversation. The conversation is locked first, as everywhere. */
export async function holdTicket(
  trx: Trx,
  ref: TicketRef,
): Promise<{ ticket: TicketRow; conversation: ConversationRow | null }> {
  for (let looks = 0; looks < MAX_LOOKS; looks++) {
    const { conversation_id } = await requireTicket(trx, ref)
    const conversation = conversation_id
      ? await requireConversation(
          trx,
          { accountId: ref.accountId, agentId: ref.agentId, conversationId: conversation_id },
          true,
        )
      : null
    const ticket = await requireTicket(trx, ref, true)
    if (ticket.conversation_id === conversation_id) return { ticket, conversation }
  }
  throw new Error('The conversation of a ticket changes all the time.')
}

/** Returns whether a conversation has a ticket, open or closed. */
export async function hasTicket(trx: Trx, accountId: AccountId, conversationId: string): Promise<boolean> {
  const row = await trx
    .selectFrom('tickets')
    .select('id')
    .where('account_id', '=', accountId)
    .where('conversation_id', '=', conversationId)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Locks and returns the conversation's ticket that is neither closed nor cancelled. */
export async function openTicketOf(
  trx: Trx,
  accountId: AccountId,
  conversationId: string,
): Promise<TicketRow | undefined> {
  return trx
    .selectFrom('tickets')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('conversation_id', '=', conversationId)
    .where('status_category', 'not in', [...OVER])
    .forNoKeyUpdate()
    .executeTakeFirst()
}

/** Links a ticket to a conversation, in a transaction that has locked both. */
export async function linkTicket(
  trx: Trx,
  { id, account_id }: Pick<TicketRow, 'id' | 'account_id'>,
  conversationId: string,
): Promise<void> {
  await noteTicket(trx, account_id, conversationId)
  await trx
    .updateTable('tickets')
    .set({ conversation_id: conversationId })
    .where(ownRow(account_id, id))
    .execute()
}
