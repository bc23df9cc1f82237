import { linkHostsOf } from '../../knowledge/sources/link-hosts.ts'
import type { Db, Trx } from '../../platform/db/database.ts'
import type { AgentRef } from '../../platform/db/refs.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import type { Customer } from '../../platform/db/tables/helpdesk.ts'
import { linksTo, withoutForeignLinks } from '../../platform/text/safety/foreign-links.ts'
import type { ToolCallPlace, ToolOutput } from '../tools/tool.ts'

export type EscalateInput = { subject: string; summary: string; email?: string }

/** Opens the conversation's ticket or finds the open one. This is passed in because the help desk is a higher layer. */
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

/** Returns whether a team member is available, and when the business hours begin again. */
export type WhoIsThere = (
  db: Db,
  agent: AgentRef,
) => Promise<{ isThere: boolean; opensAt: string | null; timeZone: string | null }>

/**
 * Opens a ticket for the team. People trust the text of tickets, and a model has written this one, so its links may
 * only lead where the agent's answers may lead. The details from the conversation's lead are added.
 */
export async function escalate(
  db: Db,
  { openTicket, onlineMembers }: { openTicket: OpenTicket; onlineMembers: WhoIsThere },
  { subject, summary, email }: EscalateInput,
  { accountId, agentId, conversationId }: ToolCallPlace,
): Promise<ToolOutput> {
  const mayLink = linksTo(await linkHostsOf(db, { accountId, agentId }))
  const { ticketNumber } = await transact(db, async (trx) => {
    const lead = await lastLead(trx, accountId, conversationId)
    return openTicket(trx, {
      accountId,
      agentId,
      conversationId,
      subject: withoutForeignLinks(subject, mayLink),
      description: withoutForeignLinks(summary, mayLink),
      customer: {
        id: null,
        name: lead?.name ?? null,
        email: email?.toLowerCase() ?? lead?.email ?? null,
        phoneNumber: lead?.phone ?? null,
      },
      assigneeId: null,
    })
  })
  // For the text that tells the person what happens next.
  const { isThere, opensAt, timeZone } = await onlineMembers(db, { accountId, agentId })
  return { status: 'success', data: { ticketNumber, teamIsThere: isThere, opensAt, timeZone } }
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
