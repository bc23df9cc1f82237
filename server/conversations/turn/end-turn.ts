import { type RawBuilder, type Selectable, sql } from 'kysely'
import type { Static } from 'typebox'
import { isSettled, releaseCredits, settling } from '../../accounts/plans/credits.ts'
import type { CitedSource } from '../../knowledge/search/answering/schema.ts'
import { linkHostsOf } from '../../knowledge/sources/link-hosts.ts'
import type { Trx } from '../../platform/db/database.ts'
import { type AgentRef, ownRow } from '../../platform/db/refs.ts'
import { json } from '../../platform/db/statements/json.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import type {
  ConversationsTable,
  FinishReason,
  GenerationsTable,
  MessagePart,
} from '../../platform/db/tables/conversations.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { outliveGeneration } from '../../platform/http/idempotency/idempotency.ts'
import { linksTo, withoutForeignLinks } from '../../platform/text/safety/foreign-links.ts'
import { type AnswerRecord, storingRecord } from '../explanations/record-answer.ts'
import type { Ungrounded } from '../prompt/ungrounded-values.ts'
import { awaitCalls, type Call, endCalls, keptOfBroken, type ResultPart, textOf } from '../records/parts.ts'
import type { MessageMetadata } from '../records/present.ts'
import { notOngoing } from '../records/queries.ts'
import { errorEnding, insertLastPiece, type LastWords } from '../stream/generation-log.ts'
import type { AnswerMetadata, FinishMetadata, GenerationIds, StreamEvent } from '../stream/reading.ts'

/** An answer that the team gets in place of the customer. */
export type HeldAnswer = { text: string; ungrounded: Ungrounded[] }

export type StoredMessage = { parts: MessagePart[]; metadata: MessageMetadata; held?: HeldAnswer }

/** How an answer ended, and what its readers are told of it. */
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
  /** What the answer is made of; null when no model was called, or none is known. */
  record?: AnswerRecord | null
  /** The events that are not in the log yet, and the number of the first one. */
  unlogged: { position: number; events: readonly StreamEvent[] }
  told: {
    /** Whether the first events have been sent. */
    hasBegun: boolean
    /** The error of an answer that failed before its first word. */
    error?: ApiError
    /** The reason that readers see when the answer broke off. */
    errorText?: string | undefined
    sources?: Static<typeof CitedSource>[]
  }
}

/** Which process may end the generation, and which one owns it afterwards: itself, or none when another one ends it. */
type Closer = { owner: string | null; epoch: number; ownerAfter: string | null }

/**
 * The result of storing an end. `stored`: the answer is stored. `taken_over`, `ended`: the conversation is in this status,
 * so the model may no longer answer and no message is stored. `lost`: the generation was already ended elsewhere.
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

/**
 * Ends a generation exactly once, if it still belongs to `closer.owner`: message, calls, ledger, log and conversation. A
 * continuation extends its message, and a retry replaces the messages that it was asked to replace. The answer is dropped
 * when the model may no longer answer in the conversation, or when a takeover requested the end. A transient
 * conversation is deleted with its generation; its cost remains in the ledger.
 */
export async function endTurn(
  { deliverAnswer }: { deliverAnswer: DeliverAnswer },
  trx: Trx,
  ref: AgentRef,
  ids: GenerationIds,
  closer: Closer,
  outcome: Outcome,
): Promise<Ending> {
  const conversation = await lockConversation(trx, ref.accountId, ids.conversationId)
  if (!conversation) return endDeleted(trx, ref, ids)
  const generation = await lockRunning(trx, ref, ids, closer)
  if (!generation) return endedBefore(trx, ref, ids, closer, outcome)
  const { status, transient, thread_id: threadId, source } = conversation
  await endCalls(trx, ref, outcome.endedCalls ?? [])
  const { isOnChannel, deliver } = await deliverAnswer(trx, ref, ids, { threadId, source })
  const isWithheld = isOnChannel && outcome.finishReason === 'error'
  const kept = isWithheld ? withheld(outcome) : outcome
  // A takeover silences its generation even when the conversation has been handed back since.
  const isTaken = generation.stop_reason === 'takeover'
  const over = status === 'taken_over' || status === 'ended' ? status : isTaken ? 'taken_over' : null
  if (kept.message && !over && generation.cut_from !== null)
    await cutMessages(trx, ref, ids.conversationId, generation)
  const locked = { conversation, generation }
  await storeEnd(trx, ref, ids, closer, locked, kept, over, lastWords(ids, outcome, over))
  if (!kept.isPaid) await releaseCredits(trx, ref.accountId, ids.id)
  if (kept.message && !over) await awaitCalls(trx, ref, ids, kept.waiting)
  if (transient) await deleteTransient(trx, ref, ids, outcome)
  else if (!over && !isWithheld && outcome.message) await deliver(outcome.message)
  return over ?? 'stored'
}

/**
 * Locks the conversation. Every transaction that ends a generation or takes a conversation over takes this lock first,
 * so one of the two waits for the other.
 */
export const lockConversation = (trx: Trx, accountId: AccountId, conversationId: string) =>
  trx
    .selectFrom('conversations')
    .select(['status', 'transient', 'thread_id', 'source', 'user_id'])
    .select(['last_seq', 'asked_seq', 'answered_seq', 'answer_tries'])
    .where(ownRow(accountId, conversationId))
    .forNoKeyUpdate()
    .executeTakeFirst()

const LOCKED = ['kind', 'cut_from', 'cut_to', 'asked_seq', 'stop_reason'] as const

type Locked = {
  conversation: Pick<
    Selectable<ConversationsTable>,
    'last_seq' | 'asked_seq' | 'answered_seq' | 'answer_tries'
  >
  generation: Pick<Selectable<GenerationsTable>, (typeof LOCKED)[number]>
}

/** Locks the generation if it still runs and belongs to the closer. Writers to its log hold a weaker lock on the row. */
const lockRunning = (
  trx: Trx,
  { accountId }: AgentRef,
  { id }: GenerationIds,
  { owner, epoch }: Closer,
): Promise<Locked['generation'] | undefined> =>
  trx
    .selectFrom('generations')
    .select(LOCKED)
    .where(ownRow(accountId, id))
    // With a plain comparison, the planner might use the index of running generations, which still lists those that
    // ended recently.
    .where('status', 'is not distinct from', 'running')
    .where('owner', 'is not distinct from', owner)
    .where('epoch', '=', epoch)
    .forUpdate()
    .executeTakeFirst()

/**
 * The generation was deleted with its conversation, and only the ledger still has an entry. If that is settled, an
 * earlier attempt was stored although its response was lost, and the conversation was transient or has been deleted since.
 */
async function endDeleted(trx: Trx, { accountId }: AgentRef, { id }: GenerationIds): Promise<Ending> {
  if (await isSettled(trx, accountId, id)) return 'stored'
  await releaseCredits(trx, accountId, id)
  return 'lost'
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

/** Deletes the messages that a retry replaces. */
async function cutMessages(
  trx: Trx,
  { accountId }: AgentRef,
  conversationId: string,
  { cut_from, cut_to }: Locked['generation'],
): Promise<void> {
  await sql`update conversations set history_summary = null, summarised_seq = 0
    where account_id = ${accountId} and id = ${conversationId}::uuid and summarised_seq >= ${cut_from}`.execute(
    trx,
  )
  await sql`
    with cut as (
      delete from messages where account_id = ${accountId} and conversation_id = ${conversationId}::uuid
        and seq between ${cut_from} and ${cut_to} returning id
    ), replaced as (
      update generations set message_state = 'cut' from cut where account_id = ${accountId}
        and conversation_id = ${conversationId}::uuid and message_id = cut.id and message_state = 'stored'
    )
    update tool_calls set status = 'ignored', resolved_at = now() where account_id = ${accountId}
      and conversation_id = ${conversationId}::uuid and status = 'pending' and message_id in (select id from cut)`.execute(
    trx,
  )
}

/** Stores the end in one statement. The transaction holds the locks of the conversation and of the generation. */
async function storeEnd(
  trx: Trx,
  { accountId, agentId }: AgentRef,
  ids: GenerationIds,
  { ownerAfter }: Closer,
  { conversation, generation }: Locked,
  { status, finishReason, message, isPaid, isOpen = false, record, unlogged }: Outcome,
  over: 'taken_over' | 'ended' | null,
  { events, ending }: LastWords,
): Promise<void> {
  const { id, conversationId, messageId } = ids
  const isContinuation = generation.kind === 'continuation'
  const piece = {
    generationId: id,
    position: unlogged.position,
    events: [...unlogged.events, ...events],
    ending,
  }
  const partsFrom =
    message && isContinuation
      ? sql`coalesce((select jsonb_array_length(parts) from messages
          where account_id = ${accountId} and id = ${messageId}::uuid), 0)`
      : sql`0`
  const parts: RawBuilder<unknown>[] = [
    sql`closed as (
      update generations set status = ${status}, finish_reason = ${message && finishReason}, owner = ${ownerAfter}::uuid,
        usage_credits = ${isPaid ? sql`credits` : sql`0`}, finished_at = now(),
        parts_count = ${message?.parts.length ?? 0}::integer, parts_from = ${partsFrom},
        message_state = ${message && !over ? 'stored' : 'none'}
      where account_id = ${accountId} and id = ${id}::uuid)`,
    sql`logged as (${insertLastPiece(accountId, piece)})`,
  ]
  if (isPaid) parts.push(sql`settled as (${settling(accountId, id)})`)
  if (record)
    parts.push(
      sql`recorded as (${storingRecord({ accountId, agentId, conversationId }, messageId, record, isContinuation)})`,
    )
  if (message && !over) {
    const { metadata } = message
    const seq = conversation.last_seq + (isContinuation ? 0 : 1)
    parts.push(
      isContinuation
        ? sql`answered as (update messages set parts = parts || ${json(message.parts)},
            metadata = coalesce(metadata, '{}') || ${json(metadata)}
          where account_id = ${accountId} and id = ${messageId}::uuid)`
        : sql`answered as (
          insert into messages (id, account_id, agent_id, conversation_id, seq, role, parts, metadata)
          values (${messageId}::uuid, ${accountId}::uuid, ${agentId}, ${conversationId}::uuid, ${seq}::integer,
            'assistant', ${json(message.parts)}, ${json(metadata)}))`,
    )
    parts.push(
      sql`moved as (update conversations set last_seq = ${seq}::integer, ${movedTo(conversation, generation, isOpen)},
        updated_at = now() where account_id = ${accountId} and id = ${conversationId}::uuid)`,
    )
  } else if (!message && generation.stop_reason !== 'takeover') {
    const isTry = generation.stop_reason === null && status !== 'finished'
    parts.push(
      sql`moved as (update conversations set ${
        isTry
          ? sql`answer_tries = answer_tries + 1`
          : sql`answer_stopped = ${generation.stop_reason === 'stop'}::boolean`
      } where account_id = ${accountId} and id = ${conversationId}::uuid and asked_seq = ${generation.asked_seq}::integer)`,
    )
  }
  await sql`with ${sql.join(parts)} select`.execute(trx)
}

/** The numbers of the messages that are asked and answered once the answer is stored. */
function movedTo(
  { asked_seq, answered_seq, answer_tries }: Locked['conversation'],
  generation: Locked['generation'],
  isOpen: boolean,
): RawBuilder<unknown> {
  const { cut_from, cut_to } = generation
  const isCut = cut_from !== null && asked_seq >= cut_from && asked_seq <= (cut_to ?? cut_from)
  const answered = isOpen ? answered_seq : Math.max(answered_seq, generation.asked_seq)
  const tries = answer_tries + (isOpen && asked_seq === generation.asked_seq ? 1 : 0)
  return sql`asked_seq = ${isCut ? generation.asked_seq : asked_seq}::integer, answered_seq = ${answered}::integer,
    answer_tries = ${tries}::integer`
}

/** Deletes a chat of version 1, whose answer is stored nowhere else, and keeps the answer for a repeated request. */
async function deleteTransient(
  trx: Trx,
  ref: AgentRef,
  ids: GenerationIds,
  { message, finishReason, told }: Outcome,
): Promise<void> {
  const answer = finishReason === 'error' ? null : message
  const hosts = answer && (await linkHostsOf(trx, ref))
  const said =
    hosts &&
    JSON.stringify({ text: withoutForeignLinks(textOf(answer), linksTo(hosts)), sources: told.sources ?? [] })
  await outliveGeneration(trx, ref.accountId, ids.id, said === null ? null : { status: 200, text: said })
  await trx
    .deleteFrom('generation_log')
    .where('account_id', '=', ref.accountId)
    .where('generation_id', '=', ids.id)
    .execute()
  await trx.deleteFrom('conversations').where(ownRow(ref.accountId, ids.conversationId)).execute()
}

const ERROR_TEXT = 'The answer could not be completed. Please try again.'

const finishMetadata = (ids: GenerationIds, credits: number): FinishMetadata => {
  const { messageId, userMessageId, conversationId, userId, standIn } = ids
  const model = standIn === undefined ? {} : { model: standIn }
  return { messageId, userMessageId, conversationId, userId, usage: { credits }, ...model }
}

export const firstEvents = (ids: GenerationIds): StreamEvent[] => [
  { type: 'start', messageId: ids.messageId },
  // This is sent early, so that a page reloaded in mid-answer knows the conversation.
  { type: 'message-metadata', messageMetadata: finishMetadata(ids, ids.credits) },
  { type: 'start-step' },
]

/**
 * Returns the end of an answer. After a person has taken over or ended the conversation, nothing of the answer is kept,
 * and no more of it is shown.
 */
export function lastWords(
  ids: GenerationIds,
  { finishReason, message, isPaid, told }: Outcome,
  over: 'taken_over' | 'ended' | null,
): LastWords {
  const credits = isPaid ? ids.credits : 0
  const { hasBegun, error, errorText = ERROR_TEXT, sources = [] } = told
  const first = hasBegun ? [] : firstEvents(ids)
  if (over) {
    return {
      events: [
        ...first,
        { type: 'data-handoff', data: { status: over } },
        { type: 'finish-step' },
        { type: 'finish', finishReason: 'stop', messageMetadata: finishMetadata(ids, credits) },
      ],
      ending: errorEnding(notOngoing(over)),
    }
  }
  if (error) return { events: [], ending: errorEnding(error) }
  const { score = null, outcome = null, offer, ungrounded } = message?.metadata ?? {}
  const messageMetadata = {
    ...finishMetadata(ids, credits),
    ...(offer ? { offer } : {}),
    ...(ungrounded ? { ungrounded } : {}),
  }
  const { messageId: _, ...shared } = messageMetadata
  const metadata: AnswerMetadata = { ...shared, finishReason, score, outcome, sources }
  return {
    events: [
      ...first,
      ...(sources.length > 0 ? [{ type: 'data-sources' as const, data: { sources } }] : []),
      ...(finishReason === 'error' ? [{ type: 'error' as const, errorText }] : []),
      { type: 'finish-step' },
      { type: 'finish', finishReason, messageMetadata },
    ],
    ending: { metadata },
  }
}

/** Returns the error for an answer whose process was lost before its first word. */
export const lostBeforeWords = (): ApiError =>
  new ApiError('SERVICE_OVERLOADED', {
    message: 'The answer was interrupted before its first word. Send the request again.',
  })
