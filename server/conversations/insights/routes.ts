import type { Context } from '../../context.ts'
import { type Route, route } from '../../platform/http/route.ts'
import { epochSeconds } from '../records/present.ts'
import { requireConversation } from '../records/queries.ts'
import { analyseNow } from './analysis/claim-conversations.ts'
import * as contract from './contract.ts'
import { readInsights } from './days/read-insights.ts'
import { readRange } from './days/read-range.ts'
import { topicsOfConversation } from './topics/queries.ts'
import { topicRoutes } from './topics/routes.ts'
import { unansweredRoutes } from './unanswered/routes.ts'

export const insightRoutes = (ctx: Pick<Context, 'db' | 'filesDir' | 'jobs'>): Route[] => [
  route(
    contract.readInsights,
    { check: ({ query }) => readRange(query, new Date()) },
    async ({ ref, checked }) => readInsights(ctx.db, ref, checked),
  ),

  route(contract.readConversationInsights, async ({ ref }) => {
    const row = await requireConversation(ctx.db, ref)
    return {
      sentiment: row.sentiment,
      sentimentBy: row.sentiment_by,
      topics: await topicsOfConversation(ctx.db, ref.accountId, ref.conversationId),
      topicsBy: row.topics_by,
      analysedAt: row.analysed_at && epochSeconds(row.analysed_at),
    }
  }),

  route(contract.analyseNow, async ({ db, ref }) => {
    return { data: { conversations: await analyseNow({ db, jobs: ctx.jobs }, ref) } }
  }),

  ...topicRoutes(ctx),
  ...unansweredRoutes(ctx),
]
