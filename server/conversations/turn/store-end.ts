import { sql } from 'kysely'
import { isSettled, releaseCredits, settleCredits } from '../../accounts/plans/credits.ts'
import type { Db, Trx } from '../../db/database.ts'
import type { AgentRef } from '../../db/refs.ts'
import { transact } from '../../db/statements/transact.ts'
import type { AccountId } from '../../db/tables/columns.ts'
import type { ConversationStatus } from '../../db/tables/conversations.ts'
import { outliveGeneration } from '../../http/once/idempotency.ts'
import { linkHostsOf } from '../../knowledge/sources/link-hosts.ts'
import { linksTo, withoutForeignLinks } from '../../text/safety/foreign-links.ts'
import { awaitCalls, type Call, endCalls, keptOfBroken, type ResultPart, textOf } from '../records/parts.ts'
import type { FinishReason, StreamEvent } from '../stream/events.ts'
import { type LastWords, type Piece, writeLastPiece } from '../stream/generation-log.ts'
import type { GenerationIds } from '../stream/live-generation.ts'
import {
  type Closer,
  type Ended,
  endingOf,
  endWithMessage,
  replyEndingOf,
  type StoredMessage,
} from './end-statements.ts'
import type { TurnWriter } from './turn-writer.ts'

export type Outcome = {
  status: 'finished' | 'failed' | 'interrupted'
  finishReason: FinishReason
  /** The message to store; null when no text was generated. */
  message: StoredMessage | null
  /** Whether the reserved credits are charged; otherwise they are released. */
  isPaid: boolean
  /** The calls of the message that its application has to run. */
  waiting: Call[]
  /** Results of calls whose end may not have been recorded. */
  endedCalls?: ResultPart[]
  /** Whether the question still needs an answer although a message is stored. */
  isOpen?: boolean
  /**
   * The events that are not in the log yet. The last events follow them and depend on the state of the conversation.
   */
  unlogged: { position: number; events: readonly StreamEvent[] }
  lastWords(over: 'taken_over' | 'ended' | null): LastWords
}

/**
 * The result of storing the end: `stored`; or the status of a conversation in which the model may no longer answer, in
 * which case there is no message; or `lost`, because the generation had already been ended elsewhere.
 */
export type Ending = 'stored' | 'taken_over' | 'ended' | 'lost'

/**
 * Returns whether the answer goes to a channel, and the last step of its transaction, which sends the stored answer
 * there and asks people about one without words. It is passed in because channels are a higher layer.
 */
export type DeliverAnswer = (
  trx: Trx,
  ref: AgentRef,
  ids: GenerationIds,
  on: { threadId: string | null; source: string },
) => Promise<{ isOnChannel: boolean; deliver(message: StoredMessage): Promise<void> }>

type Needs = { db: Db; deliverAnswer: DeliverAnswer; turnWriter: TurnWriter }

type HeldConversation = {
  status: ConversationStatus
  transient: boolean
  thread_id: string | null
  source: string
  user_id: string | null
}

/**
 * Locks the conversation. Every transaction that ends a generation or takes a conversation over takes this lock first,
 * so one of the two waits for the other.
 */
export function holdConversation(
  trx: Trx,
  accountId: AccountId,
  conversationId: string,
): Promise<HeldConversation | undefined> {
  return trx
    .selectFrom('conversations')
    .select(['status', 'transient', 'thread_id', 'source', 'user_id'])
    .where('account_id', '=', accountId)
    .where('id', '=', conversationId)
    .forNoKeyUpdate()
    .executeTakeFirst()
}

/**
 * Ends a generation exactly once: message, calls, ledger, log and conversation in one transaction, if it still belongs
 * to `closer.owner`. A transient conversation is deleted with its generation; its cost remains in the ledger.
 */
export async function storeEnd(
  { db, deliverAnswer, turnWriter }: Needs,
  ref: AgentRef,
  ids: GenerationIds,
  closer: Closer,
  outcome: Outcome,
): Promise<Ending> {
  const { message, waiting, endedCalls = [] } = outcome
  const isPlain = waiting.length + endedCalls.length === 0 && ids.kind === 'reply'
  if (message && isPlain && !message.metadata.isSilent) {
    // Read when the statement is sent, because more may have been logged by then.
    const spoken = () => pieceOf(ids, outcome.unlogged, outcome.lastWords(null))
    const { status, finishReason } = outcome
    const ending = () => replyEndingOf(ids, closer, { status, finishReason, message, spoken: spoken() })
    if (await turnWriter.end(ref, ending)) return 'stored'
  }
  return transact(db, async (trx) => {
    const conversation = await holdConversation(trx, ref.accountId, ids.conversationId)
    return storeEndHeld({ deliverAnswer }, trx, ref, ids, closer, conversation, outcome)
  })
}

const pieceOf = (
  { id }: GenerationIds,
  { position, events: before }: Outcome['unlogged'],
  { events, ending }: LastWords,
): Piece => ({ generationId: id, position, events: [...before, ...events], ending })

function endedBy(
  ids: GenerationIds,
  { status, finishReason, message, unlogged, lastWords }: Outcome & { message: StoredMessage },
): Ended {
  return {
    status,
    finishReason,
    message,
    spoken: pieceOf(ids, unlogged, lastWords(null)),
    takenOver: pieceOf(ids, unlogged, lastWords('taken_over')),
    overEnded: pieceOf(ids, unlogged, lastWords('ended')),
  }
}

/** Ends a generation in a transaction that already holds the lock of the conversation. */
export async function storeEndHeld(
  { deliverAnswer }: Pick<Needs, 'deliverAnswer'>,
  trx: Trx,
  ref: AgentRef,
  ids: GenerationIds,
  closer: Closer,
  conversation: HeldConversation | undefined,
  outcome: Outcome,
): Promise<Ending> {
  if (!conversation) {
    // The generation was deleted with it, and only the ledger still has an entry. If that is settled, an earlier attempt
    // was stored although its response was lost, and the conversation was transient or has been deleted since.
    if (await isSettled(trx, ref.accountId, ids.id)) return 'stored'
    await releaseCredits(trx, ref.accountId, ids.id)
    return 'lost'
  }
  // The generation is deleted with its conversation. This lock waits for a transaction that is appending to its log
  // and keeps out any later one.
  if (conversation.transient) await holdGeneration(trx, ref, ids)
  await endCalls(trx, ref, outcome.endedCalls ?? [])
  const { thread_id: threadId, source } = conversation
  const { isOnChannel, deliver } = await deliverAnswer(trx, ref, ids, { threadId, source })
  const isWithheld = isOnChannel && outcome.finishReason === 'error'
  const kept = isWithheld ? withheld(outcome) : outcome
  const ending = await endIn(trx, ref, ids, closer, conversation.status, kept)
  if (ending === 'lost') return endedBefore(trx, ref, ids, closer, kept)
  if (conversation.transient) {
    // A transient conversation is a chat of version 1. After this point, its answer is stored nowhere else.
    const { message, finishReason, lastWords } = outcome
    const answer = finishReason === 'error' ? null : message
    const hosts = answer && (await linkHostsOf(trx, ref))
    const { ending: told } = lastWords(null)
    const sources = 'metadata' in told ? (told.metadata.sources ?? []) : []
    const said =
      hosts && JSON.stringify({ text: withoutForeignLinks(textOf(answer), linksTo(hosts)), sources })
    await outliveGeneration(trx, ref.accountId, ids.id, said === null ? null : { status: 200, text: said })
    await trx
      .deleteFrom('generation_log')
      .where('account_id', '=', ref.accountId)
      .where('generation_id', '=', ids.id)
      .execute()
    await trx
      .deleteFrom('conversations')
      .where('account_id', '=', ref.accountId)
      .where('id', '=', ids.conversationId)
      .execute()
  } else if (ending === 'stored' && !isWithheld && outcome.message) await deliver(outcome.message)
  return ending
}

/**
 * Returns what is kept of an unfinished answer on a channel. Customers there cannot tell that an answer is unfinished,
 * and cannot ask for the rest, so it is not sent, and its question is answered again. The actions that have run are
 * kept, and the next attempt continues from their results.
 */
function withheld(outcome: Outcome): Outcome {
  const { message, status } = outcome
  const parts = keptOfBroken('continuation', message?.parts ?? [])
  const metadata = { ...message?.metadata, finishReason: 'tool-calls' as const }
  return {
    ...outcome,
    status: status === 'finished' ? 'failed' : status,
    message: parts.length > 0 ? { parts, metadata } : null,
    isPaid: parts.length > 0,
    isOpen: true,
  }
}

async function holdGeneration(trx: Trx, { accountId }: AgentRef, { id }: GenerationIds): Promise<void> {
  await trx
    .selectFrom('generations')
    .select('id')
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .forUpdate()
    .execute()
}

/** Checks whether an earlier attempt was stored although its response was lost with the connection. */
async function endedBefore(
  trx: Trx,
  { accountId }: AgentRef,
  { id }: GenerationIds,
  { ownerAfter }: Closer,
  { message }: Outcome,
): Promise<Ending> {
  const row = await trx
    .selectFrom('generations')
    .innerJoin('conversations', 'conversations.id', 'generations.conversation_id')
    .select(['owner', 'generations.status', 'message_state'])
    .select('conversations.status as conversation_status')
    .where('generations.account_id', '=', accountId)
    .where('generations.id', '=', id)
    .executeTakeFirst()
  if (!row?.owner || row.status === 'running' || row.owner !== ownerAfter) return 'lost'
  if (row.message_state !== 'none' || message === null) return 'stored'
  return row.conversation_status === 'ended' ? 'ended' : 'taken_over'
}

/** Ends it in a conversation with the given status, whose row is locked. */
async function endIn(
  trx: Trx,
  ref: AgentRef,
  ids: GenerationIds,
  closer: Closer,
  now: ConversationStatus,
  outcome: Outcome,
): Promise<Ending> {
  const { status, message, isPaid, waiting, unlogged, lastWords } = outcome
  if (message) {
    const values = endingOf(ref, ids, closer, endedBy(ids, { ...outcome, message }))
    const { rows } = await endWithMessage(trx, { ...values, isOpen: outcome.isOpen ?? false })
    if (!rows[0]) return 'lost'
    if (rows[0].over) return rows[0].over
    await awaitCalls(trx, ref, ids, waiting)
    return 'stored'
  }
  const closed = await endWithout(trx, ref, ids, closer, { status, isPaid })
  if (!closed) return 'lost'
  // A takeover discards the answer even if the conversation has been handed back meanwhile.
  const isOver = now === 'taken_over' || now === 'ended'
  const over = isOver ? now : closed.isHandedOff ? 'taken_over' : null
  await writeLastPiece(trx, ref.accountId, pieceOf(ids, unlogged, lastWords(over)))
  if (isPaid) await settleCredits(trx, ref.accountId, ids.id)
  else await releaseCredits(trx, ref.accountId, ids.id)
  return over ?? 'stored'
}

async function endWithout(
  trx: Trx,
  ref: AgentRef,
  ids: GenerationIds,
  { owner: from, epoch, ownerAfter }: Closer,
  { status, isPaid }: Pick<Outcome, 'status' | 'isPaid'>,
): Promise<{ isHandedOff: boolean } | null> {
  const closed = await trx
    .updateTable('generations')
    .set({ status, finished_at: new Date(), owner: ownerAfter })
    .$if(isPaid, (query) => query.set({ usage_credits: sql<number>`credits` }))
    .where('account_id', '=', ref.accountId)
    .where('id', '=', ids.id)
    .where('status', '=', 'running')
    .where('owner', 'is not distinct from', from)
    .where('epoch', '=', epoch)
    .returning(['asked_seq', 'stop_reason'])
    .executeTakeFirst()
  if (!closed) return null
  const { asked_seq, stop_reason } = closed
  if (stop_reason === 'takeover') return { isHandedOff: true }
  await trx
    .updateTable('conversations')
    .set(
      stop_reason === null && status !== 'finished'
        ? { answer_tries: sql<number>`answer_tries + 1` }
        : { answer_stopped: stop_reason === 'stop' },
    )
    .where('account_id', '=', ref.accountId)
    .where('id', '=', ids.conversationId)
    .where('asked_seq', '=', asked_seq)
    .execute()
  return { isHandedOff: false }
}
