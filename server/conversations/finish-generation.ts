import { releaseCredits } from '../accounts/credits.ts'
import type { Db, Trx } from '../db/database.ts'
import type { AccountId } from '../db/tables.ts'
import type { GenerationIds } from './live-generation.ts'
import { endWithMessage, type StoredMessage } from './store-turn.ts'

type Owner = { accountId: AccountId; agentId: string }

export type Outcome = {
  status: 'finished' | 'failed' | 'interrupted'
  /** null: there is no message, and the reserved credits are given back. */
  message: StoredMessage | null
}

/**
 * Ends a generation once: message, ledger and conversation in one transaction. False when somebody else ended
 * it before. A conversation that a person has taken over gets no message of the model any more.
 */
export async function finishGeneration(
  db: Db,
  owner: Owner,
  ids: GenerationIds,
  outcome: Outcome,
): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    // The conversation's lock first, as everywhere: a takeover waits for it or has it.
    const conversation = await trx
      .selectFrom('conversations')
      .select('status')
      .where('account_id', '=', owner.accountId)
      .where('id', '=', ids.conversationId)
      .forUpdate()
      .executeTakeFirst()
    if (!conversation) {
      // The agent was deleted meanwhile, and the generation with it; only the ledger still knows of it.
      await releaseCredits(trx, owner.accountId, ids.id)
      return false
    }
    if (outcome.message) {
      const silent = conversation.status === 'taken_over'
      return endWithMessage(trx, owner, ids, outcome.message, { status: outcome.status, silent })
    }
    if (!(await endWithout(trx, owner, ids, outcome.status))) return false
    await releaseCredits(trx, owner.accountId, ids.id)
    return true
  })
}

async function endWithout(
  trx: Trx,
  owner: Owner,
  ids: GenerationIds,
  status: Outcome['status'],
): Promise<boolean> {
  const closed = await trx
    .updateTable('generations')
    .set({ status, text: '', finished_at: new Date() })
    .where('account_id', '=', owner.accountId)
    .where('id', '=', ids.id)
    .where('status', '=', 'running')
    .executeTakeFirst()
  return closed.numUpdatedRows > 0n
}
