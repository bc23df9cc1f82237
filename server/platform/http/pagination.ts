import { createHash } from 'node:crypto'
import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import { isId } from '../db/ids.ts'
import type { Tables } from '../db/tables/tables.ts'
import { ApiError } from './errors.ts'

/** The position at which a page ended: the sort value and the id of its last row. */
export type Position = { value: string; id: string }

/** What a request asks of a list: how many rows, after which one. */
export type PageRequest = { limit: number; position: Position | null }

/** Return the position of a row in lists sorted by creation, and in those sorted by activity. */
export const byCreation = (row: { created_at: Date; id: string }): Position => ({
  value: row.created_at.toISOString(),
  id: row.id,
})
export const byActivity = (row: { updated_at: Date; id: string }): Position => ({
  value: row.updated_at.toISOString(),
  id: row.id,
})

type PageOf<T> = { data: T[]; pagination: { cursor: string | null; hasMore: boolean; total: number } }

/**
 * Identifies a list by its name, parent, sort and filters. A cursor carries the fingerprint of these, so that one
 * from another list, sort or filter is refused. The page size is not part of it.
 */
export function fingerprint(list: string, ...parts: unknown[]): string {
  return createHash('sha256')
    .update(JSON.stringify([list, ...parts]))
    .digest('base64url')
    .slice(0, 12)
}

export function encodeCursor(position: Position, print: string): string {
  return Buffer.from(JSON.stringify([position.value, position.id, print])).toString('base64url')
}

/** Throws VALIDATION_INVALID_CURSOR unless the cursor was made for this list; `isValue` checks the sort value. */
export function decodeCursor(
  cursor: string | undefined,
  print: string,
  isValue: (value: string) => boolean = isTime,
  isRowId: (id: string) => boolean = isId,
): Position | null {
  if (cursor === undefined) return null
  const [value, id, of] = parse(cursor)
  if (
    of !== print ||
    typeof value !== 'string' ||
    typeof id !== 'string' ||
    !isValue(value) ||
    !isRowId(id)
  ) {
    throw new ApiError('VALIDATION_INVALID_CURSOR')
  }
  return { value, id }
}

function parse(cursor: string): unknown[] {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
    return Array.isArray(parsed) ? parsed : []
  } catch {
    return []
  }
}

/** Accepts only years that PostgreSQL reads from the same text; JavaScript accepts more. */
const isTime = (value: string): boolean => {
  const time = new Date(value)
  return /^(?!0000)\d{4}-/.test(value) && !Number.isNaN(time.getTime()) && time.toISOString() === value
}

/** Matches rows strictly after the position, newest first: `(time, id) < (…)`, which a single index can answer. */
export function after(time: string, id: string, position: Position): RawBuilder<boolean> {
  return sql<boolean>`(${sql.ref(time)}, ${sql.ref(id)}) < (${position.value}, ${position.id})`
}

/** Returns up to `limit` + 1 of the rows after the position, newest first, and how many rows there are. */
export async function newestFirst<T extends keyof Tables, R>(
  query: SelectQueryBuilder<Tables, T, R>,
  { limit, position }: PageRequest,
  time = 'created_at',
) {
  const { total } = await query
    .clearSelect()
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  const rows = await query
    .$if(position !== null, (from) => from.where(after(time, 'id', position!)))
    .orderBy(sql.ref(time), 'desc')
    .orderBy(sql.ref('id'), 'desc')
    .limit(limit + 1)
    .execute()
  return { rows, total: Number(total) }
}

/**
 * Answers with the page of a list that a query asks for. `list` identifies it: its name, parent, sort and filters.
 * `read` returns up to `limit` + 1 rows, and the number of all.
 */
export async function readPage<R, T>(
  { limit, cursor }: { limit: number; cursor?: string | undefined },
  list: readonly [name: string, ...parts: unknown[]],
  read: (page: PageRequest) => Promise<{ rows: R[]; total: number }>,
  positionOf: (row: R) => Position,
  present: (row: R) => T,
): Promise<PageOf<T>> {
  const print = fingerprint(...list)
  const { rows, total } = await read({ limit, position: decodeCursor(cursor, print) })
  return pageOf(rows, limit, total, print, positionOf, present)
}

/** Builds the response from up to `limit + 1` rows; the extra one only shows that there are more. */
export function pageOf<R, T>(
  rows: R[],
  limit: number,
  total: number,
  print: string,
  positionOf: (row: R) => Position,
  present: (row: R) => T,
): PageOf<T> {
  const kept = rows.slice(0, limit)
  const last = kept.at(-1)
  const hasMore = rows.length > limit
  return {
    data: kept.map(present),
    pagination: { cursor: hasMore && last ? encodeCursor(positionOf(last), print) : null, hasMore, total },
  }
}
