import type { Context } from '../../context.ts'
import { type Route, route } from '../../platform/http/route.ts'
import * as contract from './contract.ts'
import { setTicketKnowledge } from './set-ticket-knowledge.ts'

export const ticketKnowledgeRoutes = (ctx: Pick<Context, 'db' | 'jobs'>): Route[] => [
  route(contract.readTicketKnowledge, async ({ agent }) => ({
    enabled: agent.ticket_knowledge,
  })),

  route(contract.setTicketKnowledge, { findsAgent: true }, async ({ ref, body }) => {
    await setTicketKnowledge(ctx, ref, body.enabled)
    return { success: true as const }
  }),
]
