import { useState } from 'react'

type Listed = {
  ticketNumber: number
  statusCategory: string
  lastMessageAt: string | null
  createdAt: string
}
type Times = Record<string, string>

const MOST_KEPT = 2_000

export const lastHeard = ({
  lastMessageAt,
  createdAt,
}: Pick<Listed, 'lastMessageAt' | 'createdAt'>): string => lastMessageAt ?? createdAt

export type Seen = { isUnread: (ticket: Listed) => boolean; note: (ticket: Listed) => void }

/** Tracks which of the tickets that wait for the team this browser has not shown since somebody wrote. */
export function useSeen(agentId: string): Seen {
  const key = `parley:seen:${agentId}`
  const read = (): Times => JSON.parse(localStorage.getItem(key) ?? '{}') as Times
  const [seen, setSeen] = useState(read)
  return {
    isUnread: (ticket) =>
      /^(new|on_you)$/.test(ticket.statusCategory) && lastHeard(ticket) > (seen[ticket.ticketNumber] ?? ''),
    note(ticket) {
      const { ticketNumber } = ticket
      if ((seen[ticketNumber] ?? '') >= lastHeard(ticket)) return
      const next: Times = Object.fromEntries(
        Object.entries<string>({ ...read(), [ticketNumber]: lastHeard(ticket) }).slice(-MOST_KEPT),
      )
      localStorage.setItem(key, JSON.stringify(next))
      setSeen(next)
    },
  }
}
