import { releaseCredits } from '../accounts/credits.ts'
import type { Db, Trx } from '../db/database.ts'
import type { ConversationStatus } from '../db/tables.ts'
import { transact } from '../db/transact.ts'
import { enqueueDelivery, threadOf } from '../deliveries/enqueue-delivery.ts'
import type { FinishReason } from './events.ts'
import type { GenerationIds } from './live-generation.ts'
import { textOf } from './parts.ts'
import type { Call } from './speak-step.ts'
import { endWithMessage, type StoredMessage } from './store-turn.ts'
import { awaitCalls, type Owner } from './tool-calls.ts'

export type Outcome = {
  status: 'finished' | 'failed' | 'interrupted'
  finishReason: FinishReason
  /** null: nothing was said, and the reserved credits are given back. */
  message: StoredMessage | null
  /** Calls of the message that its application has to run. */
  waiting: Call[]
}

/**
 * What became of it: `stored`; or the status of a conversation in which the model has nothing more to say, and
 * then there is no message; or `lost`, because somebody else had ended it.
 */
export type Ending = 'stored' | 'taken_over' | 'ended' | 'lost'

/**
 * Ends a generation once: message, calls, ledger and conversation in one transaction. A transient conversation goes
 * with its generation; what it cost stays in the ledger.
 */
export async function finishGeneration(
  db: Db,
  owner: Owner,
  ids: GenerationIds,
  outcome: Outcome,
): Promise<Ending> {
  return transact(db, async (trx) => {
    // The conversation's lock first, as everywhere: a takeover waits for it or has it.
    const conversation = await trx
      .selectFrom('conversations')
      .select(['status', 'transient', 'thread_id', 'source'])
      .where('account_id', '=', owner.accountId)
      .where('id', '=', ids.conversationId)
      .forNoKeyUpdate()
      .executeTakeFirst()
    if (!conversation) {
      // The agent was deleted meanwhile, and the generation with it; only the ledger still knows of it.
      await releaseCredits(trx, owner.accountId, ids.id)
      return 'lost'
    }
    const ending = await endIn(trx, owner, ids, conversation.status, outcome)
    if (ending === 'stored' && conversation.thread_id !== null) {
      await deliver(
        trx,
        owner,
        ids,
        { threadId: conversation.thread_id, source: conversation.source },
        outcome,
      )
    }
    if (conversation.transient) {
      await trx
        .deleteFrom('conversations')
        .where('account_id', '=', owner.accountId)
        .where('id', '=', ids.conversationId)
        .execute()
    }
    return ending
  })
}

/**
 * What was said on a channel has to be sent. A conversation of an application may have a thread, too, once its ticket
 * was answered by mail: there only what answers a message of the thread is.
 */
async function deliver(
  trx: Trx,
  { accountId, agentId }: Owner,
  { conversationId, messageId, userMessageId }: GenerationIds,
  { threadId, source }: { threadId: string; source: string },
  { message }: Outcome,
): Promise<void> {
  const text = textOf(message ?? { parts: [] })
  const thread = text.trim() === '' ? null : await threadOf(trx, accountId, threadId)
  if (!thread) return
  const isHeldThere = source.toLowerCase() === thread.channel
  if (!isHeldThere && !(await cameIn(trx, accountId, userMessageId))) return
  await enqueueDelivery(trx, {
    accountId,
    agentId,
    channel: thread.channel,
    threadId,
    conversationId,
    ticketId: null,
    messageId,
    ticketMessageId: null,
    content: { text },
  })
}

async function cameIn(trx: Trx, accountId: Owner['accountId'], messageId: string): Promise<boolean> {
  const inbound = await trx
    .selectFrom('inbound_messages')
    .select('id')
    .where('account_id', '=', accountId)
    .where('message_id', '=', messageId)
    .executeTakeFirst()
  return inbound !== undefined
}

/** Ends it in a conversation of that status, whose row is locked. */
async function endIn(
  trx: Trx,
  owner: Owner,
  ids: GenerationIds,
  now: ConversationStatus,
  { status, finishReason, message, waiting }: Outcome,
): Promise<Ending> {
  const over = now === 'taken_over' || now === 'ended' ? now : null
  if (message) {
    const end = await endWithMessage(trx, owner, ids, message, {
      status,
      finishReason,
      silent: over !== null,
    })
    if (end === 'lost') return 'lost'
    // A takeover silences its generation even when the conversation has been handed back since.
    if (end === 'silent') return over ?? 'taken_over'
    await awaitCalls(trx, owner, ids, waiting)
  } else {
    if (!(await endWithout(trx, owner, ids, status))) return 'lost'
    await releaseCredits(trx, owner.accountId, ids.id)
  }
  return over ?? 'stored'
}

async function endWithout(
  trx: Trx,
  owner: Owner,
  ids: GenerationIds,
  status: Outcome['status'],
): Promise<boolean> {
  const closed = await trx
    .updateTable('generations')
    .set({ status, parts: '[]', finished_at: new Date() })
    .where('account_id', '=', owner.accountId)
    .where('id', '=', ids.id)
    .where('status', '=', 'running')
    .executeTakeFirst()
  return closed.numUpdatedRows > 0n
}
