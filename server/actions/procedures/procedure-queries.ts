import type { Selectable } from 'kysely'
import type { Db, Trx } from '../../platform/db/database.ts'
import { type AgentRef, ofAgent } from '../../platform/db/refs.ts'
import type { ProceduresTable } from '../../platform/db/tables/actions.ts'
import { newestFirst, type PageRequest } from '../../platform/http/pagination.ts'
import { requireRow } from '../../platform/http/require-row.ts'

export type ProcedureRow = Selectable<ProceduresTable>

/** Returns the agent's procedure. Throws RESOURCE_NOT_FOUND. */
export const requireProcedure = (db: Db, ref: AgentRef, procedureId: string): Promise<ProcedureRow> =>
  requireRow(db.selectFrom('procedures').selectAll().where(ofAgent(ref)), procedureId)

/** Returns up to `limit` + 1 procedures, newest first, and their total number. */
export const listProcedureRows = (db: Db, ref: AgentRef, page: PageRequest) =>
  newestFirst(db.selectFrom('procedures').selectAll().where(ofAgent(ref)), page)

export async function procedureNames(trx: Trx, ref: AgentRef): Promise<Set<string>> {
  const rows = await trx.selectFrom('procedures').select('name').where(ofAgent(ref)).execute()
  return new Set(rows.map(({ name }) => name))
}
