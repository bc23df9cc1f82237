import { recordAudit } from '../../accounts/audit/audit.ts'
import type { Db } from '../../platform/db/database.ts'
import { type AgentRef, ownRow } from '../../platform/db/refs.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import { ApiError } from '../../platform/http/errors.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import { EMPTY_AGENT, type EmptyAgent, REMOVE_FILES, type RemoveFiles } from '../jobs.ts'
import type { AgentReactions } from './agent-reactions.ts'

/**
 * Deletes the agent's row and its running replies, so that every request finds no such agent from then on. Jobs of the
 * same transaction delete everything else of it in small steps (privacy/erasing/empty-agent.ts).
 */
export async function deleteAgent(
  {
    db,
    jobs,
    dropReplies,
    withdrawLater,
  }: { db: Db; jobs: Jobs } & Pick<AgentReactions, 'dropReplies' | 'withdrawLater'>,
  { accountId, agentId }: AgentRef,
  actor: string,
): Promise<void> {
  await transact(db, async (trx) => {
    const deleted = await trx.deleteFrom('agents').where(ownRow(accountId, agentId)).executeTakeFirst()
    if (deleted.numDeletedRows === 0n) throw new ApiError('AGENT_NOT_FOUND')
    const generationIds = await dropReplies(trx, { accountId, agentId })
    await withdrawLater(trx, { accountId, agentId })
    await jobs.enqueue<EmptyAgent>(trx, EMPTY_AGENT, { accountId, agentId, generationIds })
    await jobs.enqueue<RemoveFiles>(trx, REMOVE_FILES, { folder: `${accountId}/${agentId}` })
    await recordAudit(trx, { accountId, actor, action: 'agent.delete', target: agentId })
  })
}
