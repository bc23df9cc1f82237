import { type RawBuilder, sql } from 'kysely'
import type { Trx } from '../db/database.ts'
import { json } from '../db/json.ts'
import type { AccountId, MessagePart } from '../db/tables.ts'
import { LEASE_SECONDS } from './generations.ts'
import type { GenerationIds } from './live-generation.ts'
import type { MessageMetadata } from './present.ts'

/**
 * The writes of a turn, each one statement: a turn is a handful of round trips, and at many turns a second
 * their number is what counts (measured: 235 turns a second with one statement a table, see bench/results).
 */

type Owner = { accountId: AccountId; agentId: string }

type Beginning = { parts: MessagePart[]; model: string }

/** Stores a new conversation with its first message and the running generation. */
export async function openConversation(
  trx: Trx,
  { accountId, agentId }: Owner,
  ids: GenerationIds,
  beginning: Beginning & { source: string; title: string },
): Promise<void> {
  await sql`
    with opened as (
      insert into conversations (id, account_id, agent_id, source, user_id, title, status, last_seq)
      values (${ids.conversationId}, ${accountId}, ${agentId}, ${beginning.source}, ${ids.userId}, ${beginning.title},
        'ongoing', 1)
    ), asked as (
      insert into messages (id, account_id, agent_id, conversation_id, seq, role, parts)
      values (${ids.userMessageId}, ${accountId}, ${agentId}, ${ids.conversationId}, 1, 'user', ${json(beginning.parts)})
    )
    ${insertGeneration({ accountId, agentId }, ids, beginning.model)}`.execute(trx)
}

/** Adds a message and the running generation to a conversation whose row the transaction has locked. */
export async function continueConversation(
  trx: Trx,
  { accountId, agentId }: Owner,
  ids: GenerationIds,
  { parts, model }: Beginning,
): Promise<void> {
  await sql`
    with moved as (
      update conversations set last_seq = last_seq + 1, updated_at = now()
      where account_id = ${accountId} and id = ${ids.conversationId} returning last_seq
    ), asked as (
      insert into messages (id, account_id, agent_id, conversation_id, seq, role, parts)
      select ${ids.userMessageId}::uuid, ${accountId}::uuid, ${agentId}, ${ids.conversationId}::uuid, last_seq, 'user',
        ${json(parts)} from moved
    )
    ${insertGeneration({ accountId, agentId }, ids, model)}`.execute(trx)
}

function insertGeneration(
  { accountId, agentId }: Owner,
  ids: GenerationIds,
  model: string,
): RawBuilder<unknown> {
  return sql`insert into generations
    (id, account_id, agent_id, conversation_id, user_message_id, message_id, model, status, credits, lease_until)
    values (${ids.id}, ${accountId}, ${agentId}, ${ids.conversationId}, ${ids.userMessageId}, ${ids.messageId}, ${model},
      'running', ${ids.credits}, now() + ${LEASE_SECONDS} * interval '1 second')`
}

export type StoredMessage = { parts: MessagePart[]; metadata: MessageMetadata }

/**
 * Ends a running generation with its message (unless `silent`) and settles its credits; false when somebody
 * else ended it before. The transaction has locked the conversation's row.
 */
export async function endWithMessage(
  trx: Trx,
  { accountId, agentId }: Owner,
  ids: GenerationIds,
  { parts, metadata }: StoredMessage,
  { status, silent }: { status: string; silent: boolean },
): Promise<boolean> {
  const { rows } = await sql`
    with closed as (
      update generations set status = ${status}, finish_reason = ${metadata.finishReason ?? null}, text = '',
        finished_at = now()
      where account_id = ${accountId} and id = ${ids.id} and status = 'running' returning id
    ), moved as (
      update conversations set last_seq = last_seq + 1, updated_at = now()
      where account_id = ${accountId} and id = ${ids.conversationId} and not ${silent}::boolean
        and exists (select from closed)
      returning last_seq
    ), answered as (
      insert into messages (id, account_id, agent_id, conversation_id, seq, role, parts, metadata)
      select ${ids.messageId}::uuid, ${accountId}::uuid, ${agentId}, ${ids.conversationId}::uuid, last_seq, 'assistant',
        ${json(parts)}, ${json(metadata)} from moved
    ), settled as (
      update credit_entries set state = 'settled'
      where account_id = ${accountId} and generation_id = ${ids.id} and state = 'reserved'
        and exists (select from closed)
    )
    select id from closed`.execute(trx)
  return rows.length > 0
}
