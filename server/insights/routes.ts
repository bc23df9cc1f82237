import { requireAgent } from '../agents/records/find-agent.ts'
import type { Context } from '../context.ts'
import { epochSeconds } from '../conversations/records/present.ts'
import { requireConversation } from '../conversations/records/queries.ts'
import { type Route, route } from '../http/route.ts'
import { analyseNow } from './analysis/claim-conversations.ts'
import * as contract from './contract.ts'
import { readInsights } from './days/read-insights.ts'
import { readRange } from './days/read-range.ts'
import { topicsOfConversation } from './topics/queries.ts'
import { topicRoutes } from './topics/routes.ts'
import { unansweredRoutes } from './unanswered/routes.ts'

export const insightRoutes = (ctx: Context): Route[] => [
  route(contract.readInsights, async ({ caller: { account }, params: { agentId }, query }) => {
    const days = readRange(query, new Date())
    await requireAgent(ctx.db, account.id, agentId)
    return readInsights(ctx.db, account.id, agentId, days)
  }),

  route(contract.readConversationInsights, async ({ caller: { account }, params }) => {
    const { agentId, conversationId } = params
    await requireAgent(ctx.db, account.id, agentId)
    const row = await requireConversation(ctx.db, account.id, agentId, conversationId)
    return {
      sentiment: row.sentiment,
      sentimentBy: row.sentiment_by,
      topics: await topicsOfConversation(ctx.db, account.id, conversationId),
      topicsBy: row.topics_by,
      analysedAt: row.analysed_at && epochSeconds(row.analysed_at),
    }
  }),

  route(contract.analyseNow, async ({ db, caller: { account }, params: { agentId } }) => {
    await requireAgent(db, account.id, agentId)
    return { data: { conversations: await analyseNow({ db, jobs: ctx.jobs }, account.id, agentId) } }
  }),

  ...topicRoutes(ctx),
  ...unansweredRoutes(ctx),
]
