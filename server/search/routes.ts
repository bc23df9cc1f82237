import { requireAgent } from '../agents/find-agent.ts'
import type { Context } from '../context.ts'
import { type Route, route } from '../http/route.ts'
import { searchConversations } from './contract.ts'
import { readFilters } from './read-filters.ts'
import { createSearch } from './search-conversations.ts'

export const searchRoutes = (ctx: Context): Route[] => {
  const search = createSearch()
  return [
    route(searchConversations, async ({ caller: { account }, params, query }) => {
      const filters = readFilters(params.agentId, query, new Date())
      await requireAgent(ctx.db, account.id, params.agentId)
      return search(ctx.db, account.id, filters, query)
    }),
  ]
}
