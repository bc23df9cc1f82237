import { sql } from 'kysely'
import { settling } from '../../accounts/plans/credits.ts'
import type { AgentRef } from '../../db/refs.ts'
import { statement, type Values } from '../../db/statements/statement.ts'
import type { MessagePart } from '../../db/tables/conversations.ts'
import type { MessageMetadata } from '../records/present.ts'
import { isRunning, type Piece, packPiece } from '../stream/generation-log.ts'
import type { GenerationIds } from '../stream/live-generation.ts'

/** These statements end a turn. As in `begin-statements.ts`, each is one round trip and its text is compiled once. */

/**
 * Which process may write to the generation, and which one owns it after its end: the same process if that has ended
 * it itself, otherwise none.
 */
export type Closer = { owner: string | null; epoch: number; ownerAfter: string | null }

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

/** Returns what `endReplies` takes of each reply. */
export function replyEndingOf(
  ids: GenerationIds,
  { owner, epoch, ownerAfter }: Closer,
  { status, finishReason, message, spoken }: Pick<Ended, 'status' | 'finishReason' | 'message' | 'spoken'>,
) {
  const { position, events, ending } = packPiece(spoken)
  const { id, conversationId, messageId } = ids
  const closer = { owner, epoch, ownerAfter }
  return {
    id,
    conversationId,
    messageId,
    ...closer,
    status,
    finishReason,
    ...message,
    position,
    events,
    ending,
  }
}

export type ReplyEnding = ReturnType<typeof replyEndingOf>

/** Returns the values for `endWithMessage`. */
export function endingOf({ accountId, agentId }: AgentRef, ids: GenerationIds, closer: Closer, ended: Ended) {
  const { events, ending, parts, metadata, ...shared } = replyEndingOf(ids, closer, ended)
  const takenOver = packPiece(ended.takenOver)
  const overEnded = packPiece(ended.overEnded)
  return {
    ...shared,
    accountId,
    agentId,
    parts: JSON.stringify(parts),
    metadata: JSON.stringify(metadata),
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
 * replace. With `isOpen`, the question still counts as unanswered. The transaction holds the lock of the conversation's row.
 */
export const endWithMessage = statement(
  (p: Values<ReturnType<typeof endingOf> & { isOpen: boolean }>) => sql<{
    over: 'taken_over' | 'ended' | null
  }>`
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
    returning generations.id, account_id, 'reserved' as entry_state, kind, cut_from, cut_to, generations.asked_seq,
      coalesce(over, case when stop_reason = 'takeover' then 'taken_over' end) as over
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
      answered_seq = case when ${p.isOpen}::boolean then answered_seq else greatest(answered_seq, spoken.asked_seq) end,
      answer_tries = answer_tries + case when ${p.isOpen}::boolean and conversations.asked_seq = spoken.asked_seq
        then 1 else 0 end,
      updated_at = now()
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
  ), ${settling}
  select over from closed`,
)

/**
 * Does what `endWithMessage` does for several answers of one agent, if they are replies that replace nothing, in
 * conversations that nobody has taken over or ended and that have no channel to notify. It locks the conversations
 * itself, and so needs no transaction around it. It leaves out all other answers, and those whose conversations are
 * locked, because it would otherwise hold the locks of some while it waits for another. Returns the ids of the
 * generations that it has ended.
 */
export const endReplies = statement(
  (p: Values<{ accountId: string; agentId: string; endings: string }>) => sql<{ id: string }>`
  with ending as materialized (
    select * from jsonb_to_recordset(${p.endings}::jsonb) as ending ("agentId" text, id uuid, "conversationId" uuid,
      "messageId" uuid, owner uuid, epoch integer, "ownerAfter" uuid, status text, "finishReason" text, parts jsonb,
      metadata jsonb, position integer, events text, ending text)
    -- This is true for all of them. With it, the planner expects one row, and so never reads a whole table for them.
    where "agentId" = ${p.agentId}
  ), held as (
    select ending.* from ending cross join lateral (
      select from conversations
      where account_id = ${p.accountId}::uuid and id = ending."conversationId"
        and status not in ('taken_over', 'ended') and thread_id is null and not transient
      for no key update skip locked
    ) as conversations
  ), closed as (
    update generations set status = held.status, finish_reason = held."finishReason", owner = held."ownerAfter",
      usage_credits = credits, finished_at = now(), parts_count = jsonb_array_length(held.parts),
      message_state = 'stored', parts_from = 0
    from held
    where account_id = ${p.accountId}::uuid and generations.id = held.id and ${isRunning}
      and generations.owner is not distinct from held.owner and generations.epoch = held.epoch
      and kind = 'reply' and cut_from is null and stop_reason is distinct from 'takeover'
    returning generations.id, account_id, 'reserved' as entry_state, asked_seq, held."conversationId", held."messageId", held.parts,
      held.metadata, held.position, held.events, held.ending
  ), logged as (
    insert into generation_log (generation_id, account_id, position, events, ending)
    select id, ${p.accountId}::uuid, position, events, ending from closed
    -- The statement that appends to the log keeps the same order.
    order by id
    on conflict (generation_id, position) do update set events = excluded.events, ending = excluded.ending
  ), moved as (
    update conversations set last_seq = last_seq + 1, answered_seq = greatest(answered_seq, closed.asked_seq),
      updated_at = now()
    from closed
    -- Compared with the value itself, PostgreSQL would read the whole table while it is small, and go on doing so.
    where conversations.account_id = closed.account_id and conversations.id = closed."conversationId"
    returning conversations.id, last_seq, closed."messageId", closed.parts, closed.metadata
  ), answered as (
    insert into messages (id, account_id, agent_id, conversation_id, seq, role, parts, metadata)
    select "messageId", ${p.accountId}::uuid, ${p.agentId}, id, last_seq, 'assistant', parts, metadata from moved
  ), ${settling}
  select id from closed`,
)
