import { recordAudit } from '../../accounts/audit/audit.ts'
import { requireAgent } from '../../agents/records/find-agent.ts'
import { moveTools } from '../../agents/records/knowledge-state.ts'
import type { Db, Trx } from '../../platform/db/database.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { refuseInvalid } from '../../platform/http/input/validate.ts'
import { definitionBytes, MAX_DEFINITION_BYTES } from '../definitions/definition-bytes.ts'

/** The agent, and who changes its actions or procedures. */
export type Change = { accountId: AccountId; actor: string; agentId: string }

export const TOO_LARGE =
  'The actions and procedures of an agent have at most 256 KB together. Shorten or delete some of them.'

/**
 * Changes an agent's actions or procedures. The change holds the lock of the agent until it commits, is written to the
 * audit log with the name, since an id is of no use once the object is deleted, and increases the version by which
 * every process notices it. `work` returns the row, and whether it changed. Throws AGENT_NOT_FOUND, and
 * VALIDATION_INVALID_BODY when the definitions exceed the limit of an agent.
 */
export async function changeTools<R>(
  db: Db,
  { accountId, actor, agentId }: Change,
  action: string,
  work: (trx: Trx) => Promise<{ row: R & { id: string; name: string }; changed: boolean }>,
): Promise<R> {
  return transact(db, async (trx) => {
    await requireAgent(trx, { accountId, agentId }, 'update')
    const before = await definitionBytes(trx, { accountId, agentId })
    const { row, changed } = await work(trx)
    if (!changed) return row
    const after = await definitionBytes(trx, { accountId, agentId })
    if (after > MAX_DEFINITION_BYTES && after > before) refuseInvalid({ body: TOO_LARGE })
    await moveTools(trx, { id: agentId, account_id: accountId })
    await recordAudit(trx, { accountId, actor, action, target: row.id, detail: { name: row.name } })
    return row
  })
}
