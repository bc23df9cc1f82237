import { listing } from '../app/api.ts'
import { queries } from '../app/queries.ts'
import type { Filters } from './filters.ts'

export const listConversations = (agentId: string, filters: Filters) =>
  listing('/agents/{agentId}/conversations/search', { params: { agentId }, query: { limit: 25, ...filters } })

/** Begins to load the list while the page that shows it is still being loaded. */
export function prefetchConversations(agentId: string, filters: Filters): void {
  void queries.prefetchInfiniteQuery(listConversations(agentId, filters))
}
