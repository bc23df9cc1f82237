import { useState } from 'react'

type Listed = { ticketNumber: number; lastMessageAt: string | null }
type Seen = Record<string, string>

const read = (key: string): Seen => JSON.parse(localStorage.getItem(key) ?? '{}') as Seen
const MOST_KEPT = 2_000

/** Tracks which tickets have messages that this browser has not shown yet. */
export function useSeen(agentId: string) {
  const key = `parley:seen:${agentId}`
  const [seen, setSeen] = useState(() => read(key))
  return {
    isUnread: ({ ticketNumber, lastMessageAt }: Listed): boolean =>
      lastMessageAt !== null && lastMessageAt > (seen[ticketNumber] ?? ''),
    note({ ticketNumber, lastMessageAt }: Listed): void {
      if (lastMessageAt === null || seen[ticketNumber] === lastMessageAt) return
      const next: Seen = Object.fromEntries(
        Object.entries<string>({ ...read(key), [ticketNumber]: lastMessageAt }).slice(-MOST_KEPT),
      )
      localStorage.setItem(key, JSON.stringify(next))
      setSeen(next)
    },
  }
}
