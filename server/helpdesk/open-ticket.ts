import { sql } from 'kysely'
import type { Db, Trx } from '../db/database.ts'
import { newId } from '../db/ids.ts'
import { json } from '../db/json.ts'
import type { AccountId, Customer } from '../db/tables.ts'

export type NewTicket = {
  accountId: AccountId
  agentId: string
  conversationId: string
  subject: string | null
  description: string | null
  customer: Customer
  assigneeId: string | null
}

/** The channel of a ticket (contract, section 8) by the source of its conversation. */
const CHANNELS: Record<string, string> = {
  API: 'api',
  'Widget or Iframe': 'iframe',
  Iframe: 'iframe',
  Email: 'email',
  Messaging: 'messaging',
  Phone: 'phone',
  'Agent page': 'center_stage',
}

/**
 * The conversation's open ticket: the one it has, given to `assigneeId` when that is set, or a new one. The
 * agent's row is locked while its number is given.
 */
export async function openTicket(
  trx: Trx,
  wanted: NewTicket,
): Promise<{ ticketNumber: number; isNew: boolean }> {
  const { accountId, agentId, conversationId } = wanted
  const conversation = await trx
    .selectFrom('conversations')
    .select('source')
    .where('account_id', '=', accountId)
    .where('id', '=', conversationId)
    .forNoKeyUpdate()
    .executeTakeFirst()
  const open = await openTicketOf(trx, accountId, conversationId)
  if (open) {
    if (wanted.assigneeId !== null) {
      await trx
        .updateTable('tickets')
        .set({ assignee_id: wanted.assigneeId, updated_at: new Date() })
        .where('account_id', '=', accountId)
        .where('id', '=', open.id)
        .execute()
    }
    return { ticketNumber: open.number, isNew: false }
  }
  await sql`select id from agents where account_id = ${accountId} and id = ${agentId} for no key update`.execute(
    trx,
  )
  const { last } = await trx
    .selectFrom('tickets')
    .select((eb) => eb.fn.coalesce(eb.fn.max('number'), eb.lit(0)).as('last'))
    .where('account_id', '=', accountId)
    .where('agent_id', '=', agentId)
    .executeTakeFirstOrThrow()
  const ticketNumber = Number(last) + 1
  await trx
    .insertInto('tickets')
    .values({
      id: newId(),
      account_id: accountId,
      agent_id: agentId,
      number: ticketNumber,
      subject: wanted.subject,
      description: wanted.description,
      status_category: wanted.assigneeId === null ? 'new' : 'on_you',
      assignee_id: wanted.assigneeId,
      customer: json(wanted.customer),
      metadata: json({}),
      channel: CHANNELS[conversation?.source ?? 'API'] ?? 'helpdesk',
      conversation_id: conversationId,
    })
    .execute()
  return { ticketNumber, isNew: true }
}

/** The ticket of the conversation that is neither closed nor cancelled. */
export async function openTicketOf(db: Db, accountId: AccountId, conversationId: string) {
  return db
    .selectFrom('tickets')
    .select(['id', 'number', 'assignee_id'])
    .where('account_id', '=', accountId)
    .where('conversation_id', '=', conversationId)
    .where('status_category', 'not in', ['closed', 'cancelled'])
    .executeTakeFirst()
}
