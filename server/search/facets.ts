import { createHash } from 'node:crypto'

/** What a conversation is filtered by; each value is one lexeme of its row in conversation_search. */
export type Facet =
  | 'agent'
  | 'day'
  | 'month'
  | 'source'
  | 'sentiment'
  | 'topic'
  | 'user'
  | 'status'
  | 'feedback'
  | 'escalated'
  | 'action-type'
  | 'tool'
  | 'outcome'
  | 'procedure'
  | 'run'
  | 'voice'

/** Bytes; PostgreSQL takes 2,046. */
const LONGEST = 1_000

/** The lexeme of a value. It begins with a slash, which no word of a text does. */
export function facet(name: Facet, ...values: string[]): string {
  const text = `/${name}:${values.join(':')}`
  if (Buffer.byteLength(text) <= LONGEST) return text
  return `/${name}:#${createHash('sha256').update(text).digest('base64url')}`
}

/** YYYY-MM-DD in UTC. */
export const dayOf = (time: Date): string => time.toISOString().slice(0, 10)

const DAY_MS = 86_400_000

/** Days and whole months from one day to another, both included, as facets. */
export function spanFacets(from: string, until: string): string[] {
  const found: string[] = []
  let day = new Date(`${from}T00:00:00.000Z`)
  const last = new Date(`${until}T00:00:00.000Z`)
  while (day <= last) {
    const nextMonth = new Date(Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + 1, 1))
    if (day.getUTCDate() === 1 && nextMonth.getTime() - DAY_MS <= last.getTime()) {
      found.push(facet('month', dayOf(day).slice(0, 7)))
      day = nextMonth
    } else {
      found.push(facet('day', dayOf(day)))
      day = new Date(day.getTime() + DAY_MS)
    }
  }
  return found
}
