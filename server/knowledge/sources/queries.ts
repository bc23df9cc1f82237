import { type Selectable, sql } from 'kysely'
import type { Db } from '../../platform/db/database.ts'
import { isId } from '../../platform/db/ids.ts'
import { type AgentRef, ofAgent, type SourceRef } from '../../platform/db/refs.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import type { SourcesTable } from '../../platform/db/tables/knowledge.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { newestFirst, type PageRequest } from '../../platform/http/pagination.ts'

export type SourceRow = Selectable<SourcesTable>

/**
 * Returns the agent's source. Throws SOURCE_NOT_FOUND. `lock` keeps other transactions from changing it until this
 * one ends, and must be taken after the agent's lock (docs/decisions/0019).
 */
export async function requireSource(
  db: Db,
  { accountId, agentId, sourceId }: SourceRef,
  lock = false,
): Promise<SourceRow> {
  if (!isId(sourceId)) throw new ApiError('SOURCE_NOT_FOUND')
  let query = db
    .selectFrom('sources')
    .selectAll()
    .where(ofAgent({ accountId, agentId }))
    .where('id', '=', sourceId)
  if (lock) query = query.forNoKeyUpdate()
  const row = await query.executeTakeFirst()
  if (!row) throw new ApiError('SOURCE_NOT_FOUND')
  return row
}

/** Does the same for a source that is to be changed. Throws SOURCE_PENDING_DELETION for one that is being deleted. */
export async function requireChangeable(db: Db, ref: SourceRef, lock = false): Promise<SourceRow> {
  const row = await requireSource(db, ref, lock)
  if (row.status === 'toBeDeleted') throw new ApiError('SOURCE_PENDING_DELETION')
  return row
}

type SourceFilter = { agentId: string; types: SourceRow['type'][] | null; name: string | null }

/** Returns up to `limit` + 1 rows of the live agent, newest first, and the number of matches. */
export async function listSourceRows(
  db: Db,
  accountId: AccountId,
  filter: SourceFilter,
  page: PageRequest,
): Promise<{ rows: SourceRow[]; total: number }> {
  let query = db
    .selectFrom('sources')
    .where('account_id', '=', accountId)
    .where('agent_id', '=', filter.agentId)
    .where('left_out', '=', false)
  if (filter.types) query = query.where('type', 'in', filter.types)
  if (filter.name !== null) {
    query = query.where('name', 'ilike', `%${filter.name.replace(/[\\%_]/g, (sign) => `\\${sign}`)}%`)
  }
  return newestFirst(query.selectAll(), page)
}

export async function sizesByType(
  db: Db,
  ref: AgentRef,
): Promise<Map<SourceRow['type'], { count: number; size: number }>> {
  const rows = await db
    .selectFrom('sources')
    .select((eb) => ['type', eb.fn.countAll<number>().as('count'), sql<number>`sum(size)::bigint`.as('size')])
    .where(ofAgent(ref))
    .where('status', '<>', 'toBeDeleted')
    .where('left_out', '=', false)
    .groupBy('type')
    .execute()
  return new Map(rows.map(({ type, count, size }) => [type, { count, size }]))
}
