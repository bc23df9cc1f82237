import type { Static } from 'typebox'
import { conversationStatuses } from '../conversations/schema.ts'
import { readDate } from '../http/dates.ts'
import { ApiError } from '../http/errors.ts'
import { commaList } from './comma-list.ts'
import type { searchConversations } from './contract.ts'
import { type Facet, facet } from './facets.ts'

export type SearchQuery = Static<typeof searchConversations.query>

/** What a conversation must have: one facet of each group, and times in the ranges (inclusive; null: any). */
export type Filters = {
  agentId: string
  groups: string[][]
  createdFrom: Date
  createdUntil: Date | null
  activeFrom: Date | null
  activeUntil: Date | null
}

const OUTCOMES = ['success', 'error', 'pending', 'ignored']
const RUNS = ['running', 'completed', 'failed', 'abandoned']
const RATINGS = ['positive', 'negative']
const SENTIMENTS = ['positive', 'neutral', 'negative', 'unspecified']

type Details = Record<string, string>

/**
 * Reads the parameters of a search. Throws VALIDATION_INVALID_BODY with all fields that are wrong, and
 * VALIDATION_INVALID_DATE_RANGE.
 */
export function readFilters(agentId: string, query: SearchQuery, now: Date): Filters {
  const details: Details = {}
  const groups = [
    [facet('agent', agentId)],
    valueGroup(details, query, 'source', 'source'),
    valueGroup(details, query, 'sentiment', 'sentiment', SENTIMENTS),
    valueGroup(details, query, 'topic', 'topic'),
    valueGroup(details, query, 'userId', 'user'),
    valueGroup(details, query, 'activityState', 'status', conversationStatuses),
    valueGroup(details, query, 'feedback', 'feedback', RATINGS),
    query.escalated ? [facet('escalated', 'true')] : null,
    valueGroup(details, query, 'actionType', 'action-type'),
    valueGroup(details, query, 'tool', 'tool'),
    scopedGroup(details, query, ['toolOutcome', 'outcome', OUTCOMES], 'tool'),
    valueGroup(details, query, 'procedure', 'procedure'),
    scopedGroup(details, query, ['procedureOutcome', 'run', RUNS], 'procedure'),
    query.hasVoice ? [facet('voice', query.hasVoice)] : null,
  ].filter((group) => group !== null)
  const first = windowStart(now)
  const created = readRange(details, query, 'startDate', 'endDate', first)
  const active = readRange(details, query, 'updatedAfter', 'updatedBefore', first)
  if (Object.keys(details).length > 0) throw new ApiError('VALIDATION_INVALID_BODY', { details })
  refuseReversed(created, 'startDate is after endDate.')
  refuseReversed(active, 'updatedAfter is after updatedBefore.')
  return {
    agentId,
    groups,
    createdFrom: created.from ?? first,
    createdUntil: created.until,
    activeFrom: active.from,
    activeUntil: active.until,
  }
}

/** The first instant that is searched: the 1st of the month 12 months ago, UTC (service-api, "Limits"). */
export const windowStart = (now: Date): Date =>
  new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 12, 1))

type ListField = Exclude<
  keyof SearchQuery,
  'limit' | 'cursor' | 'query' | 'escalated' | 'hasVoice' | 'startDate' | 'endDate'
>

/** null: not asked for. */
function readList(
  details: Details,
  query: SearchQuery,
  field: ListField,
  allowed?: readonly string[],
): string[] | null {
  if (query[field] === undefined) return null
  const values = commaList(query[field])
  const unknown = allowed ? values.filter((value) => !allowed.includes(value)) : []
  if (values.length === 0) details[field] = 'Must hold at least one value.'
  if (unknown.length > 0)
    details[field] =
      `${JSON.stringify(unknown[0])} is not known here. Use a comma-separated list of: ${allowed?.join(', ')}.`
  return values
}

function valueGroup(
  details: Details,
  query: SearchQuery,
  field: ListField,
  name: Facet,
  allowed?: readonly string[],
): string[] | null {
  return readList(details, query, field, allowed)?.map((value) => facet(name, value)) ?? null
}

/** Outcomes count for the named tools (or procedures) when there are names, else for any. */
function scopedGroup(
  details: Details,
  query: SearchQuery,
  [field, name, allowed]: [ListField, Facet, readonly string[]],
  scope: 'tool' | 'procedure',
): string[] | null {
  const outcomes = readList(details, query, field, allowed)
  const names = query[scope] === undefined ? null : commaList(query[scope])
  if (!names) return outcomes?.map((outcome) => facet(name, outcome)) ?? null
  return outcomes?.flatMap((outcome) => names.map((of) => facet(name, outcome, of))) ?? null
}

type Range = { from: Date | null; until: Date | null }

function readRange(
  details: Details,
  query: SearchQuery,
  ...[start, end, first]: ['startDate' | 'updatedAfter', 'endDate' | 'updatedBefore', Date]
): Range {
  return {
    from: readInside(details, query, start, first)?.from ?? null,
    until: readInside(details, query, end, first)?.until ?? null,
  }
}

function readInside(
  details: Details,
  query: SearchQuery,
  field: 'startDate' | 'endDate' | 'updatedAfter' | 'updatedBefore',
  first: Date,
): { from: Date; until: Date } | null {
  const text = query[field]
  if (text === undefined) return null
  try {
    const span = readDate(field, text)
    if (span.from >= first) return span
    details[field] =
      `The search covers the last 12 months: the first day is ${first.toISOString().slice(0, 10)}.`
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    Object.assign(details, error.details)
  }
  return null
}

function refuseReversed({ from, until }: Range, message: string): void {
  if (from && until && from > until) throw new ApiError('VALIDATION_INVALID_DATE_RANGE', { message })
}
