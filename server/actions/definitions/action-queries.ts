import type { Selectable } from 'kysely'
import type { Db, Trx } from '../../platform/db/database.ts'
import { isId } from '../../platform/db/ids.ts'
import type { AgentRef } from '../../platform/db/refs.ts'
import type { ActionsTable } from '../../platform/db/tables/actions.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { after, type Position } from '../../platform/http/pagination.ts'

export type ActionRow = Selectable<ActionsTable>

/** Returns the agent's action. Throws RESOURCE_NOT_FOUND. */
export async function requireAction(
  db: Db,
  { accountId, agentId }: AgentRef,
  actionId: string,
): Promise<ActionRow> {
  const row = isId(actionId)
    ? await ofAgent(db, { accountId, agentId }).selectAll().where('id', '=', actionId).executeTakeFirst()
    : undefined
  if (!row) throw new ApiError('RESOURCE_NOT_FOUND')
  return row
}

/** Returns up to `limit` + 1 actions, newest first, and their total number. */
export async function listActionRows(
  db: Db,
  { accountId, agentId }: AgentRef,
  page: { limit: number; position: Position | null },
): Promise<{ rows: ActionRow[]; total: number }> {
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

/** Returns the names of the agent's actions and whether each is enabled. */
export async function actionsByName(
  trx: Trx,
  { accountId, agentId }: AgentRef,
): Promise<Map<string, boolean>> {
  const rows = await ofAgent(trx, { accountId, agentId }).select(['name', 'enabled']).execute()
  return new Map(rows.map(({ name, enabled }) => [name, enabled]))
}

const ofAgent = (db: Db, { accountId, agentId }: AgentRef) =>
  db.selectFrom('actions').where('account_id', '=', accountId).where('agent_id', '=', agentId)
