import { sql } from 'kysely'
import { type Entry, type Limits, reserving } from '../../accounts/plans/credits.ts'
import { statement, type Values } from '../../db/statements/statement.ts'
import type { MessagePart } from '../../db/tables/conversations.ts'
import type { GenerationIds } from '../stream/live-generation.ts'

/**
 * These statements begin a turn. Each is one round trip and its text is compiled once, because at many turns per second
 * the number of round trips limits the throughput.
 */

/** An upper bound on the events of an answer. */
export const EVENTS_PER_GENERATION = 100_000

/** The values that are stored when a turn begins, apart from its message. */
type Beginning = Entry & {
  conversationId: string
  userMessageId: string
  messageId: string
  epoch: number
  model: string
  kind: GenerationIds['kind']
}

/** A new conversation with its first message. */
export type Opening = Beginning & {
  parts: MessagePart[]
  source: string
  userId: string | null
  title: string
  parentId: string | null
  parentSummary: string | null
  externalId: string | null
  contactId: string | null
  transient: boolean
}

/**
 * Stores conversations of one agent, each with its first message and the running generation, and reserves their
 * credits. When these would exceed a limit, nothing is stored, and `exhaustedIn` tells from the error which limit it
 * was.
 */
export const openConversations = statement(
  (p: Values<Limits & { owner: string; openings: string }>) => sql<unknown>`
  with opening as materialized (
    select * from jsonb_to_recordset(${p.openings}::jsonb) as opening ("entryId" uuid, "generationId" uuid,
      credits integer, "entryKind" text, "conversationId" uuid, "userMessageId" uuid, "messageId" uuid, epoch integer,
      model text, kind text, parts jsonb, source text, "userId" text, title text, "parentId" uuid,
      "parentSummary" text, "externalId" text, "contactId" uuid, transient boolean)
  ), opened as (
    insert into conversations (id, account_id, agent_id, source, user_id, title, status, last_seq, asked_seq,
      generation_count, parent_conversation_id, parent_summary, external_id, contact_id, transient)
    select "conversationId", ${p.accountId}::uuid, ${p.agentId}, source, "userId", title, 'ongoing', 1, 1, 1,
      "parentId", "parentSummary", "externalId", "contactId", transient from opening
  ), asked as (
    insert into messages (id, account_id, agent_id, conversation_id, seq, role, parts)
    select "userMessageId", ${p.accountId}::uuid, ${p.agentId}, "conversationId", 1, 'user', parts from opening
  ), made as (
    insert into generations (id, account_id, agent_id, conversation_id, user_message_id, message_id, model, status,
      credits, kind, first_event, owner, epoch, asked_seq)
    select "generationId", ${p.accountId}::uuid, ${p.agentId}, "conversationId", "userMessageId", "messageId", model,
      'running', credits, kind, 0, ${p.owner}::uuid, epoch, 1 from opening
  ), ${reserving(p, sql`select * from opening`)}
  select * from reserved`,
)

type Continuing = Limits &
  Beginning & {
    owner: string
    /** The user's message as JSON; null when the turn answers an existing message. */
    parts: string | null
    /** The number of that existing message. */
    askedSeq: number | null
    /** The range of message numbers that a retry replaces. */
    cutFrom: number | null
    cutTo: number | null
  }

/**
 * Adds the running generation, and the user's message if there is one, to a conversation whose row the transaction
 * has locked, and reserves its credits. Returns the number after which its events begin.
 */
export const continueConversation = statement(
  (p: Values<Continuing>) => sql<{ first_event: number }>`
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
  ), made as (
    insert into generations (id, account_id, agent_id, conversation_id, user_message_id, message_id, model, status,
      credits, kind, first_event, cut_from, cut_to, owner, epoch, asked_seq)
    select ${p.generationId}::uuid, ${p.accountId}::uuid, ${p.agentId}, ${p.conversationId}::uuid,
      ${p.userMessageId}::uuid, ${p.messageId}::uuid, ${p.model}, 'running', ${p.credits}::integer, ${p.kind},
      (generation_count - 1)::bigint * ${sql.lit(EVENTS_PER_GENERATION)}, ${p.cutFrom}::integer,
      ${p.cutTo}::integer, ${p.owner}::uuid, ${p.epoch}::integer, coalesce(${p.askedSeq}::integer, last_seq)
    from moved returning id, first_event
  ), ${reserving(
    p,
    sql`select ${p.entryId}::uuid as "entryId", id as "generationId", ${p.credits}::integer as credits,
      ${p.entryKind} as "entryKind" from made`,
  )}
  select first_event from made, reserved`,
)
