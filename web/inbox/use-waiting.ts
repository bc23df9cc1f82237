import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { reading } from '../app/api.ts'
import { chime } from './chime.ts'
import { lastHeard } from './seen.ts'

const MAX_COUNT = 100

/**
 * Follows the tickets that wait for the team: shows the number of unread ones in the title of the window, and plays a
 * sound when a customer writes.
 */
export function useWaiting(agentId: string, unread: number): void {
  const { data } = useQuery(
    reading('/agents/{agentId}/helpdesk/tickets', {
      params: { agentId },
      query: { status: 'new,on_you', limit: MAX_COUNT, sortBy: 'lastMessageAt' },
    }),
  )
  const rows = data?.data ?? []
  const newest = data && rows.reduce((latest, row) => (lastHeard(row) > latest ? lastHeard(row) : latest), '')
  const heard = useRef<string | undefined>(undefined)
  useEffect(() => {
    if (newest === undefined) return
    if (heard.current !== undefined && newest > heard.current) chime()
    if (heard.current === undefined || newest > heard.current) heard.current = newest
  }, [newest])
  useEffect(() => {
    document.title = unread > 0 ? `(${unread > 99 ? '99+' : unread}) Inbox – Parley` : 'Inbox – Parley'
  }, [unread])
}
