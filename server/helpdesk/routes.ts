import { requireAgent } from '../agents/find-agent.ts'
import type { Context } from '../context.ts'
import { requireConversation } from '../conversations/queries.ts'
import { ApiError } from '../http/errors.ts'
import { type Route, route } from '../http/route.ts'
import {
  endConversation as endConversationEndpoint,
  handBackConversation,
  readTicket,
  takeOverConversation,
} from './contract.ts'
import { requireMember, requireOne } from './find-member.ts'
import { presentTicket } from './present.ts'
import { endConversation, handBack, takeOver } from './take-over.ts'

export const helpdeskRoutes = (ctx: Context): Route[] => [
  route(takeOverConversation, async ({ caller: { account }, params, body }) => {
    requireOne(body)
    await requireAgent(ctx.db, account.id, params.agentId)
    await requireConversation(ctx.db, account.id, params.agentId, params.conversationId)
    const member = await requireMember(ctx.db, account.id, body)
    const { ticketNumber } = await takeOver(ctx, { accountId: account.id, ...params }, member)
    return { data: { id: params.conversationId, status: 'taken_over' as const, ticketNumber } }
  }),

  route(handBackConversation, async ({ caller: { account }, params }) => {
    await requireAgent(ctx.db, account.id, params.agentId)
    await handBack(ctx, { accountId: account.id, ...params })
    return { data: { id: params.conversationId, status: 'ongoing' as const } }
  }),

  route(endConversationEndpoint, async ({ caller: { account }, params }) => {
    await requireAgent(ctx.db, account.id, params.agentId)
    await endConversation(ctx, { accountId: account.id, ...params })
    return { data: { id: params.conversationId, status: 'ended' as const } }
  }),

  route(readTicket, async ({ caller: { account }, params }) => {
    await requireAgent(ctx.db, account.id, params.agentId)
    const row = await ctx.db
      .selectFrom('tickets')
      .selectAll()
      .where('account_id', '=', account.id)
      .where('agent_id', '=', params.agentId)
      .where('number', '=', params.ticketNumber)
      .executeTakeFirst()
    if (!row) throw new ApiError('TICKET_NOT_FOUND')
    return presentTicket(row)
  }),
]
