import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { reading } from '../app/api.ts'
import { chime } from './chime.ts'
import { lastHeard, type Seen } from './seen.ts'

const MOST = 100

/**
 * Follows the tickets that wait for the team: shows the number of unread ones in the title of the window, and plays a
 * sound when a customer writes. Returns both numbers.
 */
export function useWaiting(agentId: string, seen: Seen): { waiting: number; unread: number } {
  const { data } = useQuery(
    reading('/agents/{agentId}/helpdesk/tickets', {
      params: { agentId },
      query: { status: 'new,on_you', limit: MOST, sortBy: 'lastMessageAt', includeTotal: true },
    }),
  )
  const rows = data?.data ?? []
  const unread = rows.filter(seen.isUnread).length
  const newest = data && rows.reduce((latest, row) => (lastHeard(row) > latest ? lastHeard(row) : latest), '')
  const heard = useRef<string | undefined>(undefined)
  useEffect(() => {
    if (newest === undefined) return
    if (heard.current !== undefined && newest > heard.current) chime()
    if (heard.current === undefined || newest > heard.current) heard.current = newest
  }, [newest])
  useEffect(() => {
    document.title = unread > 0 ? `(${unread === MOST ? '99+' : unread}) Inbox – Parley` : 'Inbox – Parley'
  }, [unread])
  return { waiting: data?.pagination.total ?? 0, unread }
}
