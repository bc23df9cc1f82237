import type { Selectable } from 'kysely'
import type { Db, Trx } from '../../platform/db/database.ts'
import { isId } from '../../platform/db/ids.ts'
import type { AgentRef } from '../../platform/db/refs.ts'
import type { ProceduresTable } from '../../platform/db/tables/actions.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { after, type Position } from '../../platform/http/pagination.ts'

export type ProcedureRow = Selectable<ProceduresTable>

/** Returns the agent's procedure. Throws RESOURCE_NOT_FOUND. */
export async function requireProcedure(
  db: Db,
  { accountId, agentId }: AgentRef,
  procedureId: string,
): Promise<ProcedureRow> {
  const row = isId(procedureId)
    ? await ofAgent(db, { accountId, agentId }).selectAll().where('id', '=', procedureId).executeTakeFirst()
    : undefined
  if (!row) throw new ApiError('RESOURCE_NOT_FOUND')
  return row
}

/** Returns up to `limit` + 1 procedures, newest first, and their total number. */
export async function listProcedureRows(
  db: Db,
  { accountId, agentId }: AgentRef,
  page: { limit: number; position: Position | null },
): Promise<{ rows: ProcedureRow[]; total: number }> {
  let query = ofAgent(db, { accountId, agentId })
  const { total } = await query.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
  if (page.position) query = query.where(after('created_at', 'id', page.position))
  const rows = await query
    .selectAll()
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit + 1)
    .execute()
  return { rows, total: Number(total) }
}

export async function procedureNames(trx: Trx, { accountId, agentId }: AgentRef): Promise<Set<string>> {
  const rows = await ofAgent(trx, { accountId, agentId }).select('name').execute()
  return new Set(rows.map(({ name }) => name))
}

const ofAgent = (db: Db, { accountId, agentId }: AgentRef) =>
  db.selectFrom('procedures').where('account_id', '=', accountId).where('agent_id', '=', agentId)
