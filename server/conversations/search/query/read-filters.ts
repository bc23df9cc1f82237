import type { Static } from 'typebox'
import { commaList } from '../../../platform/http/contract.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import { spanOf } from '../../../platform/http/input/dates.ts'
import { PLAYGROUND } from '../../records/queries.ts'
import type { searchConversations } from '../contract.ts'
import { type Facet, facet } from './facets.ts'
import { searchedFrom } from './searched-months.ts'

export type SearchQuery = Static<typeof searchConversations.query>

/** The conditions for a conversation: one facet of each group, and times in the ranges (inclusive; null: any). */
export type Filters = {
  agentId: string
  groups: string[][]
  createdFrom: Date
  createdUntil: Date | null
  activeFrom: Date | null
  activeUntil: Date | null
}

/** Reads the parameters of a search. Throws VALIDATION_INVALID_DATE_RANGE. */
export function readFilters(agentId: string, query: SearchQuery, now: Date): Filters {
  const created = readRange(query.startDate, query.endDate)
  const active = readRange(query.updatedAfter, query.updatedBefore)
  refuseReversed(created, 'startDate is after endDate.')
  refuseReversed(active, 'updatedAfter is after updatedBefore.')
  const groups = [
    agentGroup(agentId, query.source),
    valueGroup(query.source, 'source'),
    valueGroup(query.sentiment, 'sentiment'),
    valueGroup(query.topic, 'topic'),
    valueGroup(query.userId, 'user'),
    valueGroup(query.activityState, 'status'),
    valueGroup(query.feedback, 'feedback'),
    query.escalated ? [facet('escalated', 'true')] : null,
    valueGroup(query.actionType, 'action-type'),
    valueGroup(query.tool, 'tool'),
    scopedGroup(query.toolOutcome, 'outcome', query.tool),
    valueGroup(query.procedure, 'procedure'),
    scopedGroup(query.procedureOutcome, 'run', query.procedure),
    query.hasVoice ? [facet('voice', query.hasVoice)] : null,
  ].filter((group) => group !== null)
  return {
    agentId,
    groups,
    createdFrom: created.from ?? searchedFrom(now),
    // Nothing was created in the future, and a distant end would result in many days.
    createdUntil: created.until && created.until < now ? created.until : null,
    activeFrom: active.from,
    activeUntil: active.until,
  }
}

/** A search includes runs of the playground only if it filters by their source. */
const agentGroup = (agentId: string, sources: string | undefined): string[] => [
  facet('agent', agentId),
  ...(sources !== undefined && commaList(sources).includes(PLAYGROUND)
    ? [facet('agent-playground', agentId)]
    : []),
]

/** null: no filter. */
const valueGroup = (list: string | undefined, name: Facet): string[] | null =>
  list === undefined ? null : commaList(list).map((value) => facet(name, value))

/** If names are given, outcomes only count for those tools or procedures, otherwise for any. */
function scopedGroup(outcomes: string | undefined, name: Facet, scope: string | undefined): string[] | null {
  if (outcomes === undefined || scope === undefined) return valueGroup(outcomes, name)
  return commaList(outcomes).flatMap((outcome) => commaList(scope).map((of) => facet(name, outcome, of)))
}

type Range = { from: Date | null; until: Date | null }

const readRange = (start: string | undefined, end: string | undefined): Range => ({
  from: start === undefined ? null : spanOf(start).from,
  until: end === undefined ? null : spanOf(end).until,
})

function refuseReversed({ from, until }: Range, message: string): void {
  if (from && until && from > until) throw new ApiError('VALIDATION_INVALID_DATE_RANGE', { message })
}
