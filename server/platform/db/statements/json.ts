import { type RawBuilder, sql } from 'kysely'

/**
 * Serialises a value for a jsonb column. Both drivers would turn an array into an SQL array and guess at strings, so
 * the JSON text is made here.
 */
export function json(value: unknown): RawBuilder<unknown> {
  return value === null || value === undefined ? sql`null` : sql`${JSON.stringify(value)}::jsonb`
}
