import { releaseCredits } from '../../accounts/plans/credits.ts'
import type { Trx } from '../../platform/db/database.ts'
import { type AgentRef, ofAgent } from '../../platform/db/refs.ts'

/**
 * Deletes the running generations of an agent with their logs, and releases their reserved credits. The processes that
 * run them notice the next time they store something. Returns the ids.
 */
export async function dropReplies(trx: Trx, { accountId, agentId }: AgentRef): Promise<string[]> {
  const rows = await trx
    .deleteFrom('generations')
    .where('account_id', '=', accountId)
    // Whoever locks several generations keeps this order.
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('generations')
        .select('id')
        .where(ofAgent({ accountId, agentId }))
        .where('status', '=', 'running')
        .orderBy('id')
        .forUpdate(),
    )
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
