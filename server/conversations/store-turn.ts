import { type RawBuilder, sql } from 'kysely'
import type { Trx } from '../db/database.ts'
import { json } from '../db/json.ts'
import type { MessagePart } from '../db/tables.ts'
import { LEASE_SECONDS } from './generations.ts'
import type { GenerationIds } from './live-generation.ts'
import type { MessageMetadata } from './present.ts'
import type { Owner } from './tool-calls.ts'

/**
 * The writes of a turn, each one statement: a turn is a handful of round trips, and at many turns a second
 * their number is what counts (measured: 235 turns a second with one statement a table, see bench/results).
 */

/** No answer has so many events. */
export const EVENTS_PER_GENERATION = 100_000

/** Everything but the first event, which the conversation's count of generations gives. */
type NewIds = Omit<GenerationIds, 'firstEvent'>

type Beginning = {
  model: string
  /** The user's message; null when the turn answers one that is there. */
  parts: MessagePart[] | null
  /** Numbers of the messages that a retry replaces. */
  cut: { from: number; to: number } | null
}

type Opening = {
  parts: MessagePart[]
  model: string
  source: string
  title: string
  parent: { id: string; summary: string } | null
  externalId: string | null
  contactId: string | null
  transient: boolean
}

/** Stores a new conversation with its first message and the running generation. */
export async function openConversation(
  trx: Trx,
  { accountId, agentId }: Owner,
  ids: NewIds,
  { parts, model, source, title, parent, externalId, contactId, transient }: Opening,
): Promise<void> {
  const beginning: Beginning = { model, parts, cut: null }
  await sql`
    with moved as (
      insert into conversations (id, account_id, agent_id, source, user_id, title, status, last_seq, generation_count,
        parent_conversation_id, parent_summary, external_id, contact_id, transient)
      values (${ids.conversationId}, ${accountId}, ${agentId}, ${source}, ${ids.userId}, ${title}, 'ongoing', 1, 1,
        ${parent?.id ?? null}, ${parent?.summary ?? null}, ${externalId}, ${contactId}, ${transient})
      returning generation_count
    ), asked as (
      insert into messages (id, account_id, agent_id, conversation_id, seq, role, parts)
      values (${ids.userMessageId}, ${accountId}, ${agentId}, ${ids.conversationId}, 1, 'user', ${json(parts)})
    )
    ${insertGeneration({ accountId, agentId }, ids, beginning)}`.execute(trx)
}

/**
 * Adds the running generation, and the user's message if there is one, to a conversation whose row the
 * transaction has locked. Answers the number that its events begin after, and whether there is a ticket that the
 * message belongs on, too.
 */
export async function continueConversation(
  trx: Trx,
  { accountId, agentId }: Owner,
  ids: NewIds,
  beginning: Beginning,
): Promise<{ firstEvent: number; hasTicket: boolean }> {
  const { parts } = beginning
  const asks = parts !== null
  const { rows } = await sql<{ first_event: number; has_ticket: boolean }>`
    with moved as (
      update conversations set last_seq = last_seq + ${asks ? 1 : 0}, generation_count = generation_count + 1,
        updated_at = now()
      where account_id = ${accountId} and id = ${ids.conversationId} returning last_seq, generation_count
    ), asked as (
      insert into messages (id, account_id, agent_id, conversation_id, seq, role, parts)
      select ${ids.userMessageId}::uuid, ${accountId}::uuid, ${agentId}, ${ids.conversationId}::uuid, last_seq, 'user',
        ${json(parts ?? [])} from moved where ${asks}::boolean
    )
    ${insertGeneration({ accountId, agentId }, ids, beginning)}
    returning first_event, ${asks}::boolean and exists (
      select from tickets where account_id = ${accountId} and conversation_id = ${ids.conversationId}
    ) as has_ticket`.execute(trx)
  return { firstEvent: rows[0]?.first_event ?? 0, hasTicket: rows[0]?.has_ticket ?? false }
}

function insertGeneration(
  { accountId, agentId }: Owner,
  ids: NewIds,
  { model, cut }: Beginning,
): RawBuilder<unknown> {
  return sql`insert into generations
    (id, account_id, agent_id, conversation_id, user_message_id, message_id, model, status, credits, kind, first_event,
      cut_from, cut_to, lease_until)
    select ${ids.id}::uuid, ${accountId}::uuid, ${agentId}, ${ids.conversationId}::uuid, ${ids.userMessageId}::uuid,
      ${ids.messageId}::uuid, ${model}, 'running', ${ids.credits}, ${ids.kind},
      (generation_count - 1)::bigint * ${EVENTS_PER_GENERATION}::integer, ${cut?.from ?? null}::integer,
      ${cut?.to ?? null}::integer, now() + ${LEASE_SECONDS} * interval '1 second'
    from moved`
}

export type StoredMessage = { parts: MessagePart[]; metadata: MessageMetadata }

/**
 * Ends a running generation with what it said (unless `silent`, or a takeover asked for its end) and settles its
 * credits; `lost` when somebody else ended it before. A continuation goes on with its message, a retry replaces the messages it was asked
 * to. The transaction has locked the conversation's row.
 */
export async function endWithMessage(
  trx: Trx,
  { accountId, agentId }: Owner,
  ids: GenerationIds,
  { parts, metadata }: StoredMessage,
  { status, finishReason, silent }: { status: string; finishReason: string; silent: boolean },
): Promise<'stored' | 'silent' | 'lost'> {
  const { rows } = await sql<{ silent: boolean }>`
    with closed as (
      update generations set status = ${status}, finish_reason = ${finishReason}, parts = '[]',
        usage_credits = credits, finished_at = now(), parts_count = ${parts.length}::integer,
        message_state = case when ${silent}::boolean or stop_reason = 'takeover' then 'none' else 'stored' end,
        parts_from = coalesce((select jsonb_array_length(messages.parts) from messages
          where messages.account_id = ${accountId} and messages.id = generations.message_id), 0)
      where account_id = ${accountId} and id = ${ids.id} and status = 'running' returning kind, cut_from, cut_to,
        message_state = 'none' as silent
    ), spoken as (
      select * from closed where not silent
    ), cut as (
      delete from messages using spoken
      where messages.account_id = ${accountId} and messages.conversation_id = ${ids.conversationId}
        and messages.seq between spoken.cut_from and spoken.cut_to
      returning messages.id, messages.parts
    ), replaced as (
      update generations set message_state = 'cut', parts = cut.parts from cut
      where account_id = ${accountId} and conversation_id = ${ids.conversationId} and message_id = cut.id
        and message_state = 'stored'
    ), dropped as (
      update tool_calls set status = 'ignored', resolved_at = now()
      where account_id = ${accountId} and conversation_id = ${ids.conversationId} and status = 'pending'
        and message_id in (select id from cut)
    ), moved as (
      update conversations set last_seq = last_seq + case when spoken.kind = 'continuation' then 0 else 1 end,
        updated_at = now()
      from spoken where conversations.account_id = ${accountId} and conversations.id = ${ids.conversationId}
      returning last_seq, spoken.kind
    ), answered as (
      insert into messages (id, account_id, agent_id, conversation_id, seq, role, parts, metadata)
      select ${ids.messageId}::uuid, ${accountId}::uuid, ${agentId}, ${ids.conversationId}::uuid, last_seq, 'assistant',
        ${json(parts)}, ${json(metadata)} from moved where kind <> 'continuation'
    ), gone_on as (
      update messages set parts = messages.parts || ${json(parts)}::jsonb,
        metadata = coalesce(messages.metadata, '{}') || ${json(metadata)}::jsonb
      from moved
      where moved.kind = 'continuation' and messages.account_id = ${accountId} and messages.id = ${ids.messageId}::uuid
    ), settled as (
      update credit_entries set state = 'settled'
      where account_id = ${accountId} and generation_id = ${ids.id} and state = 'reserved'
        and exists (select from closed)
    )
    select silent from closed`.execute(trx)
  const [ended] = rows
  return ended ? (ended.silent ? 'silent' : 'stored') : 'lost'
}
