import { type SelectQueryBuilder, sql } from 'kysely'
import { isId } from '../db/ids.ts'
import type { Tables } from '../db/tables/tables.ts'
import { ApiError } from './errors.ts'

/** Returns the row of the query with this id. Throws RESOURCE_NOT_FOUND, also for a text that cannot be an id. */
export async function requireRow<T extends keyof Tables, R>(
  query: SelectQueryBuilder<Tables, T, R>,
  id: string,
  message?: string,
) {
  const row = isId(id) ? await query.where(sql.ref('id'), '=', id).executeTakeFirst() : undefined
  if (!row) throw new ApiError('RESOURCE_NOT_FOUND', message === undefined ? {} : { message })
  return row
}
