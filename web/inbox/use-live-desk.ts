import { useEffect } from 'react'
import { follow } from '../app/api.ts'
import { queries } from '../app/queries.ts'

const TICKETS = '/agents/{agentId}/helpdesk/tickets'

/** Reads again what the stream of events says has changed, for as long as the page is open. */
export function useLiveDesk(agentId: string): void {
  useEffect(() => {
    const abort = new AbortController()
    const listen = async (): Promise<void> => {
      const path = '/agents/{agentId}/helpdesk/events'
      for await (const _event of follow(path, { params: { agentId }, signal: abort.signal })) {
        // What belongs to the tickets of this agent; only what is shown is asked for at once.
        void queries.invalidateQueries({
          predicate: ({ queryKey: [key] }) => typeof key === 'string' && key.startsWith(TICKETS),
        })
      }
    }
    listen().catch(() => {})
    return () => abort.abort()
  }, [agentId])
}
