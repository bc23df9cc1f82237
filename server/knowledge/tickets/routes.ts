import { requireAgent } from '../../agents/records/find-agent.ts'
import type { Context } from '../../context.ts'
import { type Route, route } from '../../http/route.ts'
import * as contract from './contract.ts'
import { setTicketKnowledge } from './set-ticket-knowledge.ts'

export const ticketKnowledgeRoutes = (ctx: Context): Route[] => [
  route(contract.readTicketKnowledge, async ({ caller: { account }, params: { agentId } }) => {
    const { ticket_knowledge } = await requireAgent(ctx.db, account.id, agentId)
    return { enabled: ticket_knowledge }
  }),

  route(contract.setTicketKnowledge, async ({ caller: { account }, params: { agentId }, body }) => {
    await setTicketKnowledge(ctx, account.id, agentId, body.enabled)
    return { success: true as const }
  }),
]
