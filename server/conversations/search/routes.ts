import { planOf } from '../../accounts/plans/plans.ts'
import type { Context } from '../../context.ts'
import { createFairPlaces, PlacesFull } from '../../platform/concurrency/fair-shares.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { type Caller, type Route, route } from '../../platform/http/route.ts'
import { searchConversations } from './contract.ts'
import { readFilters } from './query/read-filters.ts'
import { createSearch } from './query/search-conversations.ts'

const AT_ONCE = 4
/** The most searches of one account that may wait. */
const MAX_WAITING = 64

export const searchRoutes = (ctx: Pick<Context, 'db'>): Route[] => {
  const search = createSearch()
  const places = createFairPlaces({ places: AT_ONCE, maxWaiting: MAX_WAITING })
  const enter = ({ account }: Caller): Promise<() => void> =>
    places.enter(account.id, undefined, planOf(account.plan).searchesAtOnce).catch((error: unknown) => {
      if (!(error instanceof PlacesFull)) throw error
      throw new ApiError('SERVICE_OVERLOADED', { cause: error })
    })
  return [
    route(
      searchConversations,
      { check: ({ params, query }) => readFilters(params.agentId, query, new Date()) },
      async ({ caller, checked, query }) => {
        const leave = await enter(caller)
        return search(ctx.db, caller.account.id, checked, query).finally(leave)
      },
    ),
  ]
}
