import type { Static } from 'typebox'
import type { SourceRow } from './queries.ts'
import type { Source } from './schema.ts'

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
  }
}
