import { useQuery } from '@tanstack/react-query'
import { reading } from '../app/api.ts'
import { useCan } from '../app/session.ts'

/** The most characters that contacts are searched by. */
const MAX_LENGTH = 254

/** Returns the contact with the user id of a conversation or ticket. A visitor of the website need not be one. */
export function useContact(agentId: string, userId: string | null) {
  const can = useCan()
  const query = userId ?? ''
  const isSearched = query !== '' && query.length <= MAX_LENGTH && can('conversations:read')
  const found = useQuery({
    ...reading('/agents/{agentId}/contacts', { params: { agentId }, query: { query, limit: 10 } }),
    enabled: isSearched,
  })
  return { contact: found.data?.data.find(({ externalId }) => externalId === userId) }
}
