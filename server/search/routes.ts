import { planOf } from '../accounts/plans/plans.ts'
import { requireAgent } from '../agents/records/find-agent.ts'
import type { Context } from '../context.ts'
import { createFairPlaces, PlacesFull } from '../fairness/fair-places.ts'
import { ApiError } from '../http/errors.ts'
import { type Caller, type Route, route } from '../http/route.ts'
import { searchConversations } from './contract.ts'
import { readFilters } from './query/read-filters.ts'
import { createSearch } from './query/search-conversations.ts'

const AT_ONCE = 4
/** The most searches of one account that may wait. */
const MOST_WAITING = 64

export const searchRoutes = (ctx: Context): Route[] => {
  const search = createSearch()
  const places = createFairPlaces({ places: AT_ONCE, mostWaiting: MOST_WAITING })
  const enter = ({ account }: Caller): Promise<() => void> =>
    places.enter(account.id, undefined, planOf(account.plan).searchesAtOnce).catch((error: unknown) => {
      if (!(error instanceof PlacesFull)) throw error
      throw new ApiError('SERVICE_OVERLOADED', { headers: { 'retry-after': '2' }, cause: error })
    })
  return [
    route(searchConversations, async ({ caller, params, query }) => {
      const { account } = caller
      const filters = readFilters(params.agentId, query, new Date())
      await requireAgent(ctx.db, account.id, params.agentId)
      const leave = await enter(caller)
      return search(ctx.db, account.id, filters, query).finally(leave)
    }),
  ]
}
