import { requireAgent } from '../../agents/records/find-agent.ts'
import { switchTicketKnowledge } from '../../agents/records/knowledge-state.ts'
import type { Context } from '../../context.ts'
import type { AgentRef } from '../../platform/db/refs.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import { dropAllTickets } from './drop-ticket-sources.ts'
import { GATHER_TICKETS, type GatherTickets } from './gather-tickets.ts'

/**
 * Enables or disables solved tickets as knowledge. When enabled, even if it was before, they are collected in the
 * background. When disabled, all of them are removed from answers at once. Throws AGENT_NOT_FOUND.
 */
export async function setTicketKnowledge(
  { db, jobs }: Pick<Context, 'db' | 'jobs'>,
  { accountId, agentId }: AgentRef,
  enabled: boolean,
): Promise<void> {
  await transact(db, async (trx) => {
    await requireAgent(trx, { accountId, agentId }, 'update')
    await switchTicketKnowledge(trx, { id: agentId, account_id: accountId }, enabled)
    if (enabled) await jobs.enqueue<GatherTickets>(trx, GATHER_TICKETS, { agentId })
    else await dropAllTickets(trx, { accountId, agentId })
  })
}
