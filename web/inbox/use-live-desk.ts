import { useEffect, useState } from 'react'
import { follow } from '../app/api.ts'
import { queries } from '../app/queries.ts'

export const TICKETS = '/agents/{agentId}/helpdesk/tickets'
const CONVERSATIONS = '/agents/{agentId}/conversations'
const MEMBERS = '/agents/{agentId}/helpdesk/members'

/** Many events in a row cause one refresh. */
const TOGETHER_MS = 250
/** How often the inbox looks by itself where it cannot follow the stream. */
const LOOK_MS = 15_000

/** Marks what starts with one of the paths as out of date; what is shown is fetched again at once. */
export function refresh(...paths: string[]): void {
  void queries.invalidateQueries({
    predicate: ({ queryKey: [key] }) =>
      typeof key === 'string' && paths.some((path) => key === path || key.startsWith(`${path}/`)),
  })
}

/**
 * Follows the help desk's event stream while the page is open, and refreshes what the events are about. Returns false
 * while the stream is refused; then the inbox looks for itself from time to time.
 */
export function useLiveDesk(agentId: string): boolean {
  const [isLive, setIsLive] = useState(true)
  useEffect(() => {
    const abort = new AbortController()
    const stale = new Set<string>()
    let timer: ReturnType<typeof setTimeout> | undefined
    const refreshSoon = (...paths: string[]): void => {
      for (const path of paths) stale.add(path)
      timer ??= setTimeout(() => {
        timer = undefined
        refresh(...stale)
        stale.clear()
      }, TOGETHER_MS)
    }
    const listen = async (): Promise<void> => {
      const path = '/agents/{agentId}/helpdesk/events'
      for await (const event of follow(path, { params: { agentId }, signal: abort.signal })) {
        setIsLive(true)
        if (event && typeof event === 'object' && 'presence' in event) refreshSoon(MEMBERS)
        else refreshSoon(TICKETS, CONVERSATIONS)
      }
    }
    const keepListening = (): void => {
      listen().catch(() => {
        if (abort.signal.aborted) return
        setIsLive(false)
        refreshSoon(TICKETS)
        setTimeout(keepListening, LOOK_MS)
      })
    }
    keepListening()
    return () => {
      abort.abort()
      clearTimeout(timer)
    }
  }, [agentId])
  return isLive
}
