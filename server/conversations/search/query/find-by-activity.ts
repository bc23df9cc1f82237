import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../../platform/db/database.ts'
import type { AccountId } from '../../../platform/db/tables/columns.ts'
import type { Position } from '../../../platform/http/pagination.ts'
import { facetsQuery } from '../index/ts-text.ts'
import { dayOf, facet, LATE_MS, spanFacets } from './facets.ts'
import type { Filters } from './read-filters.ts'

type ActiveRow = { id: string; updated_at: Date }

/** The number of conversations that are checked one by one before the index of the facets is used. */
const WALK = 4_000

/**
 * Returns up to `limit` + 1 rows, most recently active first. Filters that many conversations pass soon find enough
 * among the newest ones; for other filters, the index of the facets leaves few rows to sort.
 */
export async function findByActivity(
  db: Db,
  accountId: AccountId,
  filters: Filters,
  page: Page,
): Promise<ActiveRow[]> {
  const isSelective = filters.groups.some((group) => group[0]?.startsWith(facet('user', '')))
  if (!isSelective) {
    const found = await amongFew(db, accountId, filters, page)
    if (found.length > page.limit) return found.slice(0, page.limit + 1)
  }
  return amongAll(db, accountId, filters, page)
}

type Page = { limit: number; position: Position | null }

/**
 * Conversations created before a day were last active by the day after it, except for late ones, which have a facet. So
 * the walk can begin there.
 */
async function amongFew(db: Db, accountId: AccountId, filters: Filters, page: Page): Promise<ActiveRow[]> {
  const { createdUntil, activeFrom, activeUntil, groups } = filters
  if (createdUntil === null) return amongNewest(db, accountId, filters, page)
  const edge = createdUntil.getTime() + LATE_MS
  const afterEdge = new Date(Math.max(edge + 1, activeFrom?.getTime() ?? 0))
  const late = { ...filters, activeFrom: afterEdge, groups: [...groups, [facet('late', 'true')]] }
  const first = await amongAll(db, accountId, late, page)
  if (first.length > page.limit) return first
  const untilEdge = new Date(Math.min(edge, activeUntil?.getTime() ?? edge))
  const rest = { ...page, limit: page.limit - first.length }
  return [...first, ...(await amongNewest(db, accountId, { ...filters, activeUntil: untilEdge }, rest))]
}

async function amongNewest(
  db: Db,
  accountId: AccountId,
  filters: Filters,
  { limit, position }: Page,
): Promise<ActiveRow[]> {
  const { rows } = await sql<ActiveRow>`
    select conversation_id as id, updated_at from (
      select conversation_id, updated_at, created_at, facets from conversation_search
      where account_id = ${accountId} and agent_id = ${filters.agentId} and ${activeIn(filters)}
        and ${beyond(position)}
      order by updated_at desc, conversation_id desc limit ${WALK}
    ) as newest
    where ${createdIn(filters)} and facets @@ ${facetsQuery(filters.groups)}::tsquery
    order by updated_at desc, conversation_id desc limit ${limit + 1}`.execute(db)
  return rows
}

async function amongAll(
  db: Db,
  accountId: AccountId,
  filters: Filters,
  { limit, position }: Page,
): Promise<ActiveRow[]> {
  const groups = [...filters.groups, ...createdGroups(filters)]
  // Filtering is separated from sorting; otherwise the planner may read a million rows in sort order.
  const { rows } = await sql<ActiveRow>`
    with matching as materialized (
      select conversation_id, updated_at from conversation_search
      where facets @@ ${facetsQuery(groups)}::tsquery and account_id = ${accountId}
        and agent_id = ${filters.agentId} and ${createdIn(filters)} and ${activeIn(filters)}
    )
    select conversation_id as id, updated_at from matching where ${beyond(position)}
    order by updated_at desc, conversation_id desc limit ${limit + 1}`.execute(db)
  return rows
}

/** Returns the days of the range as facets, if it is short enough. */
function createdGroups({ createdFrom, createdUntil }: Filters): string[][] {
  if (createdUntil === null) return []
  return [spanFacets(dayOf(createdFrom), dayOf(createdUntil))]
}

export const createdIn = ({ createdFrom, createdUntil }: Filters): RawBuilder<boolean> =>
  createdUntil
    ? sql<boolean>`created_at between ${createdFrom} and ${createdUntil}`
    : sql<boolean>`created_at >= ${createdFrom}`

export const activeIn = ({ activeFrom, activeUntil }: Filters): RawBuilder<boolean> => {
  const from = activeFrom ? sql`updated_at >= ${activeFrom}` : sql`true`
  return activeUntil ? sql<boolean>`${from} and updated_at <= ${activeUntil}` : sql<boolean>`${from}`
}

const beyond = (position: Position | null): RawBuilder<boolean> =>
  position
    ? sql<boolean>`(updated_at, conversation_id) < (${position.value}::timestamptz, ${position.id}::uuid)`
    : sql<boolean>`true`
