import { createHash } from 'node:crypto'

/** The filters of conversations; each value is one lexeme of the row in conversation_search. */
export type Facet =
  | 'agent'
  /** Replaces `agent` for runs of the playground, which a search leaves out unless it asks for their source. */
  | 'agent-playground'
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
  | 'late'

/** In bytes; PostgreSQL's limit is 2,046. */
const MAX_LENGTH = 1_000

/** Returns the lexeme of a value. It begins with a slash, unlike every word of a text. */
export function facet(name: Facet, ...values: string[]): string {
  const text = `/${name}:${values.join(':')}`
  if (Buffer.byteLength(text) <= MAX_LENGTH) return text
  return `/${name}:#${createHash('sha256').update(text).digest('base64url')}`
}

/** Returns YYYY-MM-DD in UTC. */
export const dayOf = (time: Date): string => time.toISOString().slice(0, 10)

const DAY_MS = 86_400_000
/** A conversation that was still active this long after its creation counts as late. */
export const LATE_MS = DAY_MS

/** In days. A longer range is looked up by months, and the caller drops the days outside the range. */
const FEW_DAYS = 15

/** Returns facets that cover every day of a range, both ends included: the days themselves, or their months. */
export function spanFacets(from: string, until: string): string[] {
  const last = Date.parse(until)
  if (last - Date.parse(from) >= FEW_DAYS * DAY_MS) return monthFacets(from, until)
  const found: string[] = []
  for (let day = Date.parse(from); day <= last; day += DAY_MS) found.push(facet('day', dayOf(new Date(day))))
  return found
}

function monthFacets(from: string, until: string): string[] {
  const found: string[] = []
  const month = new Date(`${from.slice(0, 7)}-01`)
  for (; dayOf(month) <= until; month.setUTCMonth(month.getUTCMonth() + 1))
    found.push(facet('month', dayOf(month).slice(0, 7)))
  return found
}
