import { useEffect } from 'react'
import { follow } from '../app/api.ts'
import { queries } from '../app/queries.ts'

const TICKETS = '/agents/{agentId}/helpdesk/tickets'

/** Follows the help desk's event stream while the page is open, and refreshes the tickets after each event. */
export function useLiveDesk(agentId: string): void {
  useEffect(() => {
    const abort = new AbortController()
    const listen = async (): Promise<void> => {
      const path = '/agents/{agentId}/helpdesk/events'
      for await (const _event of follow(path, { params: { agentId }, signal: abort.signal })) {
        // Invalidates all ticket queries; only those in use are refetched at once.
        void queries.invalidateQueries({
          predicate: ({ queryKey: [key] }) => typeof key === 'string' && key.startsWith(TICKETS),
        })
      }
    }
    listen().catch(() => {})
    return () => abort.abort()
  }, [agentId])
}
