import type { Static } from 'typebox'
import type { Gap } from '../../platform/db/tables/knowledge.ts'
import { isWarned, sentenceOf } from '../documents/gaps.ts'
import type { SourceRow } from './queries.ts'
import type { LeftOut, Source, Warning } from './schema.ts'

export function presentSource(row: SourceRow): Static<typeof Source> {
  return {
    id: row.id,
    type: row.type,
    name: row.name,
    size: row.size,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    status: row.status,
    error: row.error,
    metadata: row.metadata,
    ...warningsOf(row),
    ...(row.fixed_keys ? { fixed: true as const } : {}),
    ...(row.left_out ? { unpublished: true as const } : {}),
    ...(row.content.wholePage || row.metadata?.wholePage ? { wholePage: true } : {}),
  }
}

type Missing = { warnings?: Static<typeof Warning>[]; leftOut?: Static<typeof LeftOut>[] }

/** Returns what is missing in a source or page as warnings, and what is left out on purpose; nothing where nothing is. */
export function warningsOf({ gaps }: { gaps: Gap[] }): Missing {
  const warnings = gaps.filter(isWarned).map((gap) => ({ ...gap, message: sentenceOf(gap) }))
  const leftOut = gaps
    .filter((gap) => !isWarned(gap))
    .map(({ place, count }) => ({ place: place ?? '', words: count }))
  return { ...(warnings.length > 0 ? { warnings } : {}), ...(leftOut.length > 0 ? { leftOut } : {}) }
}
