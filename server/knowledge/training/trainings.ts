import { type RawBuilder, sql } from 'kysely'
import type { Training } from '../../db/tables/knowledge.ts'

const KEPT = 20

/** Returns the columns that record a training, for the update of the source's row that ends it. */
export function noted(
  outcome: Training['outcome'],
  { reason = null, bytes = null }: Partial<Pick<Training, 'reason' | 'bytes'>> = {},
): { trainings: RawBuilder<string> } {
  const entry: Training = { at: new Date().toISOString(), outcome, reason, bytes }
  return {
    trainings: sql<string>`(select jsonb_agg(entry order by place) from jsonb_array_elements(
      jsonb_build_array(${JSON.stringify(entry)}::text::jsonb) || trainings) with ordinality as kept (entry, place)
      where place <= ${KEPT}::int)`,
  }
}
