import type { Trx } from '../../platform/db/database.ts'
import { type AgentRef, ofAgent } from '../../platform/db/refs.ts'
import { namedActions } from '../definitions/named-actions.ts'

/** Disables the agent's procedures that name an action which no longer exists under this name. */
export async function disableProcedures(
  trx: Trx,
  { accountId, agentId }: AgentRef,
  actionName: string,
): Promise<void> {
  const enabled = await trx
    .selectFrom('procedures')
    .select(['id', 'steps'])
    .where(ofAgent({ accountId, agentId }))
    .where('enabled', '=', true)
    .execute()
  const ids = enabled.filter(({ steps }) => namedActions(steps).has(actionName)).map(({ id }) => id)
  if (ids.length === 0) return
  await trx
    .updateTable('procedures')
    .set({ enabled: false, updated_at: new Date() })
    .where('account_id', '=', accountId)
    .where('id', 'in', ids)
    .execute()
}
