import type { Db, Trx } from '../db/database.ts'
import type { AccountId, Customer } from '../db/tables.ts'
import type { ToolCallPlace, ToolOutput } from './tool.ts'

export type EscalateInput = { subject: string; summary: string; email?: string }

/** Opens the conversation's ticket or finds the open one; the help desk is above this folder. */
export type OpenTicket = (
  trx: Trx,
  wanted: {
    accountId: AccountId
    agentId: string
    conversationId: string
    subject: string | null
    description: string | null
    customer: Customer
    assigneeId: string | null
  },
) => Promise<{ ticketNumber: number; isNew: boolean }>

/** Opens a ticket for people to see to; what the conversation's lead told about the person goes with it. */
export async function escalate(
  db: Db,
  openTicket: OpenTicket,
  { subject, summary, email }: EscalateInput,
  { accountId, agentId, conversationId }: ToolCallPlace,
): Promise<ToolOutput> {
  const { ticketNumber } = await db.transaction().execute(async (trx) => {
    const lead = await lastLead(trx, accountId, conversationId)
    return openTicket(trx, {
      accountId,
      agentId,
      conversationId,
      subject,
      description: summary,
      customer: {
        id: null,
        name: lead?.name ?? null,
        email: email?.toLowerCase() ?? lead?.email ?? null,
        phoneNumber: lead?.phone ?? null,
      },
      assigneeId: null,
    })
  })
  return { status: 'success', data: { ticketNumber } }
}

async function lastLead(trx: Trx, accountId: AccountId, conversationId: string) {
  return trx
    .selectFrom('leads')
    .select(['name', 'email', 'phone'])
    .where('account_id', '=', accountId)
    .where('conversation_id', '=', conversationId)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
}
