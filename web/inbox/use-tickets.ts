import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { call, listing } from '../app/api.ts'
import { useMember } from '../app/session.ts'
import { filterOf, type View } from './views.ts'

/** The parameters of the list in the URL. */
export type ListSearch = {
  view?: View
  query?: string | undefined
  /** Only tickets that are urgent or of high priority. */
  urgent?: 'true' | undefined
  /** The tickets that have waited longest come first. */
  oldest?: 'true' | undefined
}

const SEARCH = '/agents/{agentId}/helpdesk/tickets/search'

/** Returns the tickets of a view or of a search, page by page. */
export function useTickets(agentId: string, { view = 'open', query, urgent, oldest }: ListSearch) {
  const member = useMember()
  const params = { agentId }
  const tickets = useInfiniteQuery({
    ...listing('/inbox/tickets', {
      query: {
        agentId,
        limit: 50,
        sortBy: 'lastMessageAt',
        ...(urgent ? { priority: 'urgent,high' } : {}),
        ...(oldest ? { order: 'asc' as const } : {}),
        ...filterOf(view, member?.id),
      },
    }),
    enabled: !query,
  })
  const found = useQuery({
    queryKey: [SEARCH, params, query],
    queryFn: () => call('POST', SEARCH, { params, body: { query: query ?? '', limit: 50 } }),
    enabled: Boolean(query),
    placeholderData: keepPreviousData,
  })
  const rows = query ? (found.data?.data ?? []) : (tickets.data?.pages.flatMap(({ data }) => data) ?? [])
  return {
    list: query ? found : tickets,
    rows,
    loadMore(): void {
      if (!query && tickets.hasNextPage && !tickets.isFetchingNextPage) void tickets.fetchNextPage()
    },
  }
}
