import { sql } from 'kysely'
import { settling } from '../../accounts/plans/credits.ts'
import { statement, type Values } from '../../db/statements/statement.ts'
import { isRunning, packPiece } from '../stream/generation-log.ts'
import type { GenerationIds } from '../stream/live-generation.ts'
import type { Closer, Ended } from './store-turn.ts'

/** Returns the values for `endReply`. */
export function replyEndingOf(
  { accountId, agentId }: { accountId: string; agentId: string },
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
