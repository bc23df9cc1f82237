import { recordAudit } from '../accounts/audit.ts'
import type { Db } from '../db/database.ts'
import type { AccountId } from '../db/tables.ts'
import { transact } from '../db/transact.ts'
import { ApiError } from '../http/errors.ts'
import type { Jobs } from '../jobs/jobs.ts'
import { REMOVE_FILES, type RemoveFiles } from './tasks.ts'

/** Deletes the agent; every row of it goes by foreign key, its files by a job of the same transaction. */
export async function deleteAgent(
  { db, jobs }: { db: Db; jobs: Jobs },
  accountId: AccountId,
  actor: string,
  agentId: string,
): Promise<void> {
  await transact(db, async (trx) => {
    const deleted = await trx
      .deleteFrom('agents')
      .where('account_id', '=', accountId)
      .where('id', '=', agentId)
      .executeTakeFirst()
    if (deleted.numDeletedRows === 0n) throw new ApiError('AGENT_NOT_FOUND')
    await jobs.enqueue<RemoveFiles>(trx, REMOVE_FILES, { folder: `${accountId}/${agentId}` })
    await recordAudit(trx, { accountId, actor, action: 'agent.delete', target: agentId })
  })
}
