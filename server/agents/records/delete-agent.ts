import { recordAudit } from '../../accounts/audit/audit.ts'
import { releaseCredits } from '../../accounts/plans/credits.ts'
import type { Db, Trx } from '../../db/database.ts'
import type { AgentRef } from '../../db/refs.ts'
import { transact } from '../../db/statements/transact.ts'
import { ApiError } from '../../http/errors.ts'
import type { Jobs } from '../../jobs/jobs.ts'
import { EMPTY_AGENT, type EmptyAgent, REMOVE_FILES, type RemoveFiles } from '../jobs.ts'

/**
 * Deletes the agent's row and its running replies: from then on there is no such agent, whatever is asked. What else
 * belonged to it goes in the background, piece by piece, by jobs of the same transaction (privacy/empty-agent.ts).
 */
export async function deleteAgent(
  { db, jobs }: { db: Db; jobs: Jobs },
  { accountId, agentId }: AgentRef,
  actor: string,
): Promise<void> {
  await transact(db, async (trx) => {
    const deleted = await trx
      .deleteFrom('agents')
      .where('account_id', '=', accountId)
      .where('id', '=', agentId)
      .executeTakeFirst()
    if (deleted.numDeletedRows === 0n) throw new ApiError('AGENT_NOT_FOUND')
    const generationIds = await dropReplies(trx, { accountId, agentId })
    await jobs.enqueue<EmptyAgent>(trx, EMPTY_AGENT, { accountId, agentId, generationIds })
    await jobs.enqueue<RemoveFiles>(trx, REMOVE_FILES, { folder: `${accountId}/${agentId}` })
    await recordAudit(trx, { accountId, actor, action: 'agent.delete', target: agentId })
  })
}

/**
 * Deletes what the agent is saying right now, and gives back what was reserved for it: whoever says it finds that it
 * is lost. Answers which generations they were.
 */
export async function dropReplies(trx: Trx, { accountId, agentId }: AgentRef): Promise<string[]> {
  const rows = await trx
    .deleteFrom('generations')
    .where('account_id', '=', accountId)
    .where('agent_id', '=', agentId)
    .where('status', '=', 'running')
    .returning('id')
    .execute()
  const ids = rows.map(({ id }) => id).sort()
  if (ids.length === 0) return []
  await trx
    .deleteFrom('generation_log')
    .where('account_id', '=', accountId)
    .where('generation_id', 'in', ids)
    .execute()
  for (const id of ids) await releaseCredits(trx, accountId, id)
  return ids
}
