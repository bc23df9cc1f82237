import { type RawBuilder, sql } from 'kysely'

/**
 * A value for a jsonb column. Both drivers would turn an array into an SQL array or guess at strings, so the
 * text is made here.
 */
export function json(value: unknown): RawBuilder<unknown> {
  return value === null || value === undefined ? sql`null` : sql`${JSON.stringify(value)}::jsonb`
}
