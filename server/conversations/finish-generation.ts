import { releaseCredits, settleCredits } from '../accounts/credits.ts'
import type { Db, Trx } from '../db/database.ts'
import { json } from '../db/json.ts'
import type { AccountId, MessagePart } from '../db/tables.ts'
import type { GenerationIds } from './live-generation.ts'
import type { MessageMetadata } from './present.ts'
import { nextSeq } from './queries.ts'

type Owner = { accountId: AccountId; agentId: string }

export type Outcome = {
  status: 'finished' | 'failed' | 'interrupted'
  /** null: there is no message, and the reserved credits are given back. */
  message: { parts: MessagePart[]; metadata: MessageMetadata } | null
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
    if (!(await close(trx, owner, ids, outcome))) return false
    if (!outcome.message) {
      await releaseCredits(trx, owner.accountId, ids.id)
      return true
    }
    if (conversation.status !== 'taken_over') await addMessage(trx, owner, ids, outcome.message)
    await settleCredits(trx, owner.accountId, ids.id)
    return true
  })
}

async function close(
  trx: Trx,
  owner: Owner,
  ids: GenerationIds,
  { status, message }: Outcome,
): Promise<boolean> {
  const closed = await trx
    .updateTable('generations')
    .set({ status, finish_reason: message?.metadata.finishReason ?? null, text: '', finished_at: new Date() })
    .where('account_id', '=', owner.accountId)
    .where('id', '=', ids.id)
    .where('status', '=', 'running')
    .executeTakeFirst()
  return closed.numUpdatedRows > 0n
}

async function addMessage(
  trx: Trx,
  { accountId, agentId }: Owner,
  ids: GenerationIds,
  { parts, metadata }: NonNullable<Outcome['message']>,
): Promise<void> {
  await trx
    .insertInto('messages')
    .values({
      id: ids.messageId,
      account_id: accountId,
      agent_id: agentId,
      conversation_id: ids.conversationId,
      seq: await nextSeq(trx, accountId, ids.conversationId),
      role: 'assistant',
      parts: json(parts),
      metadata: json(metadata),
    })
    .execute()
}
