import type { Selectable } from 'kysely'
import type { Db, Trx } from '../../platform/db/database.ts'
import { type AgentRef, ofAgent } from '../../platform/db/refs.ts'
import type { ActionsTable } from '../../platform/db/tables/actions.ts'
import { newestFirst, type PageRequest } from '../../platform/http/pagination.ts'
import { requireRow } from '../../platform/http/require-row.ts'

export type ActionRow = Selectable<ActionsTable>

/** Returns the agent's action. Throws RESOURCE_NOT_FOUND. */
export const requireAction = (db: Db, ref: AgentRef, actionId: string): Promise<ActionRow> =>
  requireRow(db.selectFrom('actions').selectAll().where(ofAgent(ref)), actionId)

/** Returns up to `limit` + 1 actions, newest first, and their total number. */
export const listActionRows = (db: Db, ref: AgentRef, page: PageRequest) =>
  newestFirst(db.selectFrom('actions').selectAll().where(ofAgent(ref)), page)

/** Returns the names of the agent's actions and whether each is enabled. */
export async function actionsByName(trx: Trx, ref: AgentRef): Promise<Map<string, boolean>> {
  const rows = await trx.selectFrom('actions').select(['name', 'enabled']).where(ofAgent(ref)).execute()
  return new Map(rows.map(({ name, enabled }) => [name, enabled]))
}
