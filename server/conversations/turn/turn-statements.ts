import { sql } from 'kysely'
import { type Reservation, reserving, settling } from '../../accounts/plans/credits.ts'
import type { AgentRef } from '../../db/refs.ts'
import { statement, type Values } from '../../db/statements/statement.ts'
import type { MessagePart } from '../../db/tables/conversations.ts'
import type { MessageMetadata } from '../records/present.ts'
import { isRunning, type Piece, packPiece } from '../stream/generation-log.ts'
import type { GenerationIds } from '../stream/live-generation.ts'

/**
 * The writes of a turn, each a single statement whose text is compiled once. A turn takes only a handful of round
 * trips, and at many turns per second their number determines the throughput.
 */

/** An upper bound on the events of an answer. */
export const EVENTS_PER_GENERATION = 100_000

/**
 * Which process may write to the generation, and which one owns it after its end: the same process if that has ended
 * it itself, otherwise none.
 */
export type Closer = { owner: string | null; epoch: number; ownerAfter: string | null }

type Beginning = Reservation & {
  conversationId: string
  userMessageId: string
  messageId: string
  /** The id of the process that runs the generation. */
  owner: string
  epoch: number
  model: string
  kind: GenerationIds['kind']
  /** The user's message as JSON; null when the turn answers an existing message, whose number is `askedSeq`. */
  parts: string | null
  askedSeq: number | null
  /** The range of message numbers that a retry replaces. */
  cutFrom: number | null
  cutTo: number | null
}

type Opening = Beginning & {
  source: string
  userId: string | null
  title: string
  parentId: string | null
  parentSummary: string | null
  externalId: string | null
  contactId: string | null
  transient: boolean
}

const insertGeneration = (p: Values<Beginning>) => sql`
  insert into generations
    (id, account_id, agent_id, conversation_id, user_message_id, message_id, model, status, credits, kind, first_event,
      cut_from, cut_to, owner, epoch, asked_seq)
  select ${p.generationId}::uuid, ${p.accountId}::uuid, ${p.agentId}, ${p.conversationId}::uuid,
    ${p.userMessageId}::uuid, ${p.messageId}::uuid, ${p.model}, 'running', ${p.credits}::integer, ${p.kind},
    (generation_count - 1)::bigint * ${sql.lit(EVENTS_PER_GENERATION)}, ${p.cutFrom}::integer, ${p.cutTo}::integer,
    ${p.owner}::uuid, ${p.epoch}::integer, coalesce(${p.askedSeq}::integer, last_seq)
  from moved returning first_event`

/**
 * Stores a new conversation with its first message and the running generation, and reserves its credits. When that
 * would exceed a limit, nothing is stored, and `exhaustedIn` tells from the error which limit it was.
 */
export const openConversation = statement(
  (p: Values<Opening>) => sql<unknown>`
  with moved as (
    insert into conversations (id, account_id, agent_id, source, user_id, title, status, last_seq, asked_seq,
      generation_count, parent_conversation_id, parent_summary, external_id, contact_id, transient)
    values (${p.conversationId}::uuid, ${p.accountId}::uuid, ${p.agentId}, ${p.source}, ${p.userId}, ${p.title},
      'ongoing', 1, 1, 1, ${p.parentId}::uuid, ${p.parentSummary}, ${p.externalId}, ${p.contactId}::uuid,
      ${p.transient}::boolean)
    returning last_seq, generation_count
  ), asked as (
    insert into messages (id, account_id, agent_id, conversation_id, seq, role, parts)
    values (${p.userMessageId}::uuid, ${p.accountId}::uuid, ${p.agentId}, ${p.conversationId}::uuid, 1, 'user',
      ${p.parts}::jsonb)
  ), made as (${insertGeneration(p)}
  ), ${reserving(p)}
  select * from reserved`,
)

/**
 * Adds the running generation, and the user's message if there is one, to a conversation whose row the transaction
 * has locked, and reserves its credits. Returns the number after which its events begin.
 */
export const continueConversation = statement(
  (p: Values<Beginning>) => sql<{ first_event: number }>`
  with moved as (
    update conversations set last_seq = last_seq + case when ${p.parts}::jsonb is null then 0 else 1 end,
      asked_seq = case when ${p.parts}::jsonb is null then asked_seq else last_seq + 1 end,
      answer_tries = case when ${p.parts}::jsonb is null then answer_tries else 0 end,
      answer_starts = case when ${p.parts}::jsonb is not null then 1 when ${p.kind} = 'reply' then answer_starts + 1
        else answer_starts end,
      answer_stopped = case when ${p.parts}::jsonb is null then answer_stopped else false end,
      continuations = case when ${p.kind} = 'continuation' then continuations + 1
        when ${p.parts}::jsonb is null then continuations else 0 end,
      generation_count = generation_count + 1, updated_at = now()
    where account_id = ${p.accountId}::uuid and id = ${p.conversationId}::uuid returning last_seq, generation_count
  ), asked as (
    insert into messages (id, account_id, agent_id, conversation_id, seq, role, parts)
    select ${p.userMessageId}::uuid, ${p.accountId}::uuid, ${p.agentId}, ${p.conversationId}::uuid, last_seq, 'user',
      ${p.parts}::jsonb from moved where ${p.parts}::jsonb is not null
  ), made as (${insertGeneration(p)}
  ), ${reserving(p)}
  select first_event from made, reserved`,
)

export type StoredMessage = { parts: MessagePart[]; metadata: MessageMetadata }

/** The end of an answer for each status that its conversation may have by then. */
export type Ended = {
  status: string
  finishReason: string
  message: StoredMessage
  spoken: Piece
  takenOver: Piece
  overEnded: Piece
}

/** Returns the values for `endReply`. */
export function replyEndingOf(
  { accountId, agentId }: AgentRef,
  ids: GenerationIds,
  { owner, epoch, ownerAfter }: Closer,
  { status, finishReason, message, spoken }: Pick<Ended, 'status' | 'finishReason' | 'message' | 'spoken'>,
) {
  const { position, events, ending } = packPiece(spoken)
  return {
    accountId,
    agentId,
    id: ids.id,
    conversationId: ids.conversationId,
    messageId: ids.messageId,
    owner,
    epoch,
    ownerAfter,
    status,
    finishReason,
    parts: JSON.stringify(message.parts),
    metadata: JSON.stringify(message.metadata),
    position,
    events,
    ending,
  }
}

/** Returns the values for `endWithMessage`. */
export function endingOf(ref: AgentRef, ids: GenerationIds, closer: Closer, ended: Ended) {
  const { events, ending, ...shared } = replyEndingOf(ref, ids, closer, ended)
  const takenOver = packPiece(ended.takenOver)
  const overEnded = packPiece(ended.overEnded)
  return {
    ...shared,
    spokenEvents: events,
    spokenEnding: ending,
    takenEvents: takenOver.events,
    takenEnding: takenOver.ending,
    endedEvents: overEnded.events,
    endedEnding: overEnded.ending,
  }
}

/**
 * Ends a running generation with its text so far and settles its credits; returns no row when it was already ended
 * elsewhere. The answer is dropped when the model may no longer answer in the conversation (`over`), or when a takeover
 * requested the end. A continuation extends its message, and a retry replaces the messages that it was asked to
 * replace. The transaction holds the lock of the conversation's row.
 */
export const endWithMessage = statement(
  (p: Values<ReturnType<typeof endingOf>>) => sql<{ over: 'taken_over' | 'ended' | null }>`
  with held as (
    select case when status in ('taken_over', 'ended') then status end as over from conversations
    where account_id = ${p.accountId}::uuid and id = ${p.conversationId}::uuid
  ), closed as (
    update generations set status = ${p.status}, finish_reason = ${p.finishReason}, owner = ${p.ownerAfter}::uuid,
      usage_credits = credits, finished_at = now(),
      parts_count = jsonb_array_length(${p.parts}::jsonb),
      message_state = case when over is not null or stop_reason = 'takeover' then 'none' else 'stored' end,
      parts_from = case when kind <> 'continuation' then 0 else coalesce((
        select jsonb_array_length(messages.parts) from messages
        where messages.account_id = ${p.accountId}::uuid and messages.id = generations.message_id), 0) end
    from held
    where account_id = ${p.accountId}::uuid and id = ${p.id}::uuid and ${isRunning}
      and owner is not distinct from ${p.owner}::uuid and epoch = ${p.epoch}::integer
    -- A takeover silences its generation even when the conversation has been handed back since.
    returning kind, cut_from, cut_to, generations.asked_seq, coalesce(over, case when stop_reason = 'takeover' then 'taken_over' end) as over
  ), spoken as (
    select * from closed where over is null
  ), logged as (
    insert into generation_log (generation_id, account_id, position, events, ending)
    select ${p.id}::uuid, ${p.accountId}::uuid, ${p.position}::integer,
      case over when 'taken_over' then ${p.takenEvents}::text when 'ended' then ${p.endedEvents}::text
        else ${p.spokenEvents}::text end,
      case over when 'taken_over' then ${p.takenEnding}::text when 'ended' then ${p.endedEnding}::text
        else ${p.spokenEnding}::text end
    from closed
    on conflict (generation_id, position) do update set events = excluded.events, ending = excluded.ending
  ), cut as (
    delete from messages using spoken
    where spoken.cut_from is not null and messages.account_id = ${p.accountId}::uuid
      and messages.conversation_id = ${p.conversationId}::uuid
      and messages.seq between spoken.cut_from and spoken.cut_to
    returning messages.id
  ), replaced as (
    update generations set message_state = 'cut' from cut
    where account_id = ${p.accountId}::uuid and conversation_id = ${p.conversationId}::uuid and message_id = cut.id
      and message_state = 'stored'
  ), dropped as (
    update tool_calls set status = 'ignored', resolved_at = now()
    where account_id = ${p.accountId}::uuid and conversation_id = ${p.conversationId}::uuid and status = 'pending'
      and message_id in (select id from cut)
  ), moved as (
    update conversations set last_seq = last_seq + case when spoken.kind = 'continuation' then 0 else 1 end,
      asked_seq = case when conversations.asked_seq between spoken.cut_from and spoken.cut_to then spoken.asked_seq
        else conversations.asked_seq end,
      answered_seq = greatest(answered_seq, spoken.asked_seq), updated_at = now()
    from spoken
    where conversations.account_id = ${p.accountId}::uuid and conversations.id = ${p.conversationId}::uuid
    returning last_seq, spoken.kind
  ), answered as (
    insert into messages (id, account_id, agent_id, conversation_id, seq, role, parts, metadata)
    select ${p.messageId}::uuid, ${p.accountId}::uuid, ${p.agentId}, ${p.conversationId}::uuid, last_seq, 'assistant',
      ${p.parts}::jsonb, ${p.metadata}::jsonb from moved where kind <> 'continuation'
  ), gone_on as (
    update messages set parts = messages.parts || ${p.parts}::jsonb,
      metadata = coalesce(messages.metadata, '{}') || ${p.metadata}::jsonb
    from moved
    where moved.kind = 'continuation' and messages.account_id = ${p.accountId}::uuid
      and messages.id = ${p.messageId}::uuid
  ), ${settling(p)}
  select over from closed`,
)

/**
 * Does what `endWithMessage` does, for most answers: a reply that replaces nothing, in a conversation that nobody has
 * taken over or ended and that has no channel to notify. It locks the conversation itself, and so needs no transaction
 * around it. In all other cases it returns no row and changes nothing.
 */
export const endReply = statement(
  (p: Values<ReturnType<typeof replyEndingOf>>) => sql<{ last_seq: number }>`
  with held as (
    select id from conversations
    where account_id = ${p.accountId}::uuid and id = ${p.conversationId}::uuid
      and status not in ('taken_over', 'ended') and thread_id is null and not transient
    for no key update
  ), closed as (
    update generations set status = ${p.status}, finish_reason = ${p.finishReason}, owner = ${p.ownerAfter}::uuid,
      usage_credits = credits, finished_at = now(), parts_count = jsonb_array_length(${p.parts}::jsonb),
      message_state = 'stored', parts_from = 0
    from held
    where account_id = ${p.accountId}::uuid and generations.id = ${p.id}::uuid
      and ${isRunning}
      and owner is not distinct from ${p.owner}::uuid and epoch = ${p.epoch}::integer
      and kind = 'reply' and cut_from is null and stop_reason is distinct from 'takeover'
    returning asked_seq
  ), logged as (
    insert into generation_log (generation_id, account_id, position, events, ending)
    select ${p.id}::uuid, ${p.accountId}::uuid, ${p.position}::integer, ${p.events}::text, ${p.ending}::text
    from closed
    on conflict (generation_id, position) do update set events = excluded.events, ending = excluded.ending
  ), moved as (
    update conversations set last_seq = last_seq + 1, answered_seq = greatest(answered_seq, closed.asked_seq),
      updated_at = now()
    from closed
    where account_id = ${p.accountId}::uuid and id = ${p.conversationId}::uuid
    returning last_seq
  ), answered as (
    insert into messages (id, account_id, agent_id, conversation_id, seq, role, parts, metadata)
    select ${p.messageId}::uuid, ${p.accountId}::uuid, ${p.agentId}, ${p.conversationId}::uuid, last_seq, 'assistant',
      ${p.parts}::jsonb, ${p.metadata}::jsonb from moved
  ), ${settling(p)}
  select last_seq from moved`,
)
