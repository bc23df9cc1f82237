import type { Static } from 'typebox'
import type { Gap } from '../../platform/db/tables/knowledge.ts'
import { sentenceOf } from '../documents/gaps.ts'
import type { SourceRow } from './queries.ts'
import type { Source, Warning } from './schema.ts'

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
  }
}

/** Returns what is missing in a source or page as warnings; nothing where nothing is. */
export const warningsOf = ({ gaps }: { gaps: Gap[] }): { warnings?: Static<typeof Warning>[] } =>
  gaps.length === 0 ? {} : { warnings: gaps.map((gap) => ({ ...gap, message: sentenceOf(gap) })) }
