import { useEffect, useState } from 'react'
import { queries } from '../app/queries.ts'
import { UNREAD } from './seen.ts'
import { watchDesk } from './watch-desk.ts'

export const TICKETS = '/agents/{agentId}/helpdesk/tickets'
const CONVERSATIONS = '/agents/{agentId}/conversations'
/** The lists over all agents. */
const INBOX = '/inbox'
const MEMBERS = '/agents/{agentId}/helpdesk/members'

/** Many events in a row cause one refresh. */
const TOGETHER_MS = 250

/** Marks queries whose path starts with one of the prefixes as stale; those on display are fetched again at once. */
export function refresh(...named: string[]): void {
  const paths = named.includes(TICKETS) ? [...named, INBOX] : named
  void queries.invalidateQueries({
    predicate: ({ queryKey: [key] }) =>
      typeof key === 'string' && paths.some((path) => key === path || key.startsWith(`${path}/`)),
  })
}

/**
 * Follows the help desk's events while the page is open, and refreshes the data they concern. Returns false while the
 * stream is refused; the inbox then polls.
 */
export function useLiveDesk(agentId: string): boolean {
  const [isLive, setIsLive] = useState(true)
  useEffect(() => {
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
    const stop = watchDesk(agentId, (news) => {
      setIsLive('event' in news)
      if (!('event' in news)) refreshSoon(TICKETS, UNREAD)
      else if ('presence' in news.event) refreshSoon(MEMBERS)
      else if ('seen' in news.event) refreshSoon(UNREAD)
      else refreshSoon(TICKETS, CONVERSATIONS, UNREAD)
    })
    return () => {
      stop()
      clearTimeout(timer)
    }
  }, [agentId])
  return isLive
}
