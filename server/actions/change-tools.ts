import { recordAudit } from '../accounts/audit.ts'
import { requireAgent } from '../agents/find-agent.ts'
import type { Db, Trx } from '../db/database.ts'
import type { AccountId } from '../db/tables.ts'

/** Who changes the actions or procedures of which agent. */
export type Change = { accountId: AccountId; actor: string; agentId: string }

/**
 * A change of an agent's actions or procedures: alone on the agent until it commits, written to the audit log,
 * and told to every process by the moved version. `work` answers the target's id and its row, or null for no
 * change. Throws AGENT_NOT_FOUND.
 */
export async function changeTools<R>(
  db: Db,
  { accountId, actor, agentId }: Change,
  action: string,
  work: (trx: Trx) => Promise<{ row: R & { id: string }; changed: boolean }>,
): Promise<R> {
  return db.transaction().execute(async (trx) => {
    await requireAgent(trx, accountId, agentId, 'update')
    const { row, changed } = await work(trx)
    if (!changed) return row
    await trx
      .updateTable('agents')
      .set((eb) => ({ tools_version: eb('tools_version', '+', 1) }))
      .where('account_id', '=', accountId)
      .where('id', '=', agentId)
      .execute()
    await recordAudit(trx, { accountId, actor, action, target: row.id })
    return row
  })
}
