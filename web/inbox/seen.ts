import { useQuery } from '@tanstack/react-query'
import { call, reading } from '../app/api.ts'
import { queries } from '../app/queries.ts'
import { useMember } from '../app/session.ts'

type Heard = { ticketNumber: number; lastMessageAt: string | null; createdAt: string }

export const UNREAD = '/agents/{agentId}/helpdesk/members/{memberId}/unread'

export const lastHeard = ({ lastMessageAt, createdAt }: Omit<Heard, 'ticketNumber'>): string =>
  lastMessageAt ?? createdAt

type ReadMarks = {
  /** Returns how many tickets wait for the team and contain something that the member has not seen. */
  unread: number
  isUnread: (ticket: { ticketNumber: number }) => boolean
  note: (ticket: Heard) => void
}

/**
 * Tracks which of the tickets that wait for the team the member has not seen. This is shared by all of the member's
 * browsers.
 */
export function useSeen(agentId: string): ReadMarks {
  const memberId = useMember()?.id ?? ''
  const options = reading(UNREAD, { params: { agentId, memberId } })
  const { data } = useQuery({ ...options, enabled: memberId !== '' })
  const numbers = new Set(data?.ticketNumbers)
  return {
    unread: data?.total ?? 0,
    isUnread: ({ ticketNumber }) => numbers.has(ticketNumber),
    note(ticket) {
      const { ticketNumber } = ticket
      if (!data || !numbers.has(ticketNumber)) return
      queries.setQueryData(options.queryKey, {
        ticketNumbers: data.ticketNumbers.filter((one) => one !== ticketNumber),
        total: data.total - 1,
      })
      call('PUT', '/agents/{agentId}/helpdesk/members/{memberId}/seen/{ticketNumber}', {
        params: { agentId, memberId, ticketNumber },
        body: { until: lastHeard(ticket) },
      }).catch(() => queries.invalidateQueries({ queryKey: options.queryKey }))
    },
  }
}
