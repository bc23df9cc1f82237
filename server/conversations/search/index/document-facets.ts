import { PLAYGROUND } from '../../records/queries.ts'
import { dayOf, facet, LATE_MS } from '../query/facets.ts'
import type { Document } from './load-documents.ts'

/** Stands for "none" in the filters for sentiment and topic. */
const UNSPECIFIED = 'unspecified'

/** The values by which a conversation can be filtered. */
export function documentFacets(document: Document): string[] {
  const { agent_id, created_at, updated_at, source, user_id, status, sentiment, has_voice } = document
  const day = dayOf(created_at)
  const topics = document.topics.length > 0 ? document.topics : [UNSPECIFIED]
  const found = [
    facet(source === PLAYGROUND ? 'agent-playground' : 'agent', agent_id),
    facet('day', day),
    facet('month', day.slice(0, 7)),
    facet('source', source),
    facet('status', status),
    facet('sentiment', sentiment ?? UNSPECIFIED),
    facet('voice', String(has_voice)),
    ...topics.map((topic) => facet('topic', topic)),
    ...(user_id === null ? [] : [facet('user', user_id)]),
    ...(updated_at.getTime() - created_at.getTime() > LATE_MS ? [facet('late', 'true')] : []),
    ...(document.escalated ? [facet('escalated', 'true')] : []),
    ...document.feedback.map((feedback) => facet('feedback', feedback)),
    ...document.calls.flatMap(({ name, type, status: outcome }) => [
      facet('action-type', type),
      facet('tool', name),
      facet('outcome', outcome),
      facet('outcome', outcome, name),
    ]),
    ...document.runs.flatMap(({ name, status: outcome }) => [
      facet('procedure', name),
      facet('run', outcome),
      facet('run', outcome, name),
    ]),
  ]
  return [...new Set(found)]
}
