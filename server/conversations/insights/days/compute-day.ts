import { type Selectable, sql } from 'kysely'
import type { Trx } from '../../../platform/db/database.ts'
import type { AgentRef } from '../../../platform/db/refs.ts'
import type { AccountId } from '../../../platform/db/tables/columns.ts'
import type { InsightDaysTable } from '../../../platform/db/tables/insights.ts'
import { sourcesOf } from '../../records/conversation-lists.ts'
import { PLAYGROUND } from '../../records/queries.ts'

/** The figures of a day in their stored form. */
export type DayFigures = Omit<
  Selectable<InsightDaysTable>,
  'agent_id' | 'account_id' | 'day' | 'is_stale' | 'computed_at' | 'took_ms'
>

const DAY_MS = 86_400_000

type Span = { accountId: AccountId; agentId: string; from: Date; until: Date }

/** Computes the figures of an agent's day (YYYY-MM-DD, UTC). */
export async function computeDay(
  trx: Trx,
  { accountId, agentId }: AgentRef,
  day: string,
): Promise<DayFigures> {
  const from = new Date(`${day}T00:00:00.000Z`)
  const span = { accountId, agentId, from, until: new Date(from.getTime() + DAY_MS) }
  return {
    ...(await conversationFigures(trx, span)),
    ...(await messageFigures(trx, span)),
    ...(await otherFigures(trx, span)),
  }
}

type OfConversations = Pick<
  DayFigures,
  | 'conversations'
  | 'positive'
  | 'neutral'
  | 'negative'
  | 'settled'
  | 'escalated'
  | 'deflected'
  | 'topics'
  | 'sources'
  | 'countries'
>

/** Counts conversations that began that day. An unknown country has the key ''. */
async function conversationFigures(
  trx: Trx,
  { accountId, agentId, from, until }: Span,
): Promise<OfConversations> {
  const sources = await sourcesOf(trx, { accountId, agentId })
  const { rows } = await sql<OfConversations>`
    with found as (
      select c.id, c.source, coalesce(c.country, '') as country, c.sentiment,
        c.status = 'ended' or c.analysis_due is null as settled,
        c.escalated
      from unnest(${sources}::text[]) as wanted (source)
      cross join lateral (
        select * from conversations where account_id = ${accountId} and agent_id = ${agentId}
          and source = wanted.source and not transient and created_at >= ${from} and created_at < ${until}) as c
    )
    select count(*)::int as conversations,
      count(*) filter (where sentiment = 'positive')::int as positive,
      count(*) filter (where sentiment = 'neutral')::int as neutral,
      count(*) filter (where sentiment = 'negative')::int as negative,
      count(*) filter (where settled)::int as settled,
      count(*) filter (where escalated)::int as escalated,
      count(*) filter (where settled and not escalated)::int as deflected,
      (select coalesce(jsonb_object_agg(source, n), '{}')
        from (select source, count(*) as n from found group by source) as by_source) as sources,
      (select coalesce(jsonb_object_agg(country, n), '{}')
        from (select country, count(*) as n from found group by country) as by_country) as countries,
      (select coalesce(jsonb_object_agg(topic_id, n), '{}')
        from (select t.topic_id, count(*) as n from found join conversation_topics t on t.conversation_id = found.id
          where t.topic_id is not null group by t.topic_id) as by_topic) as topics
    from found`.execute(trx)
  return onlyRow(rows)
}

type OfMessages = Pick<
  DayFigures,
  | 'user_messages'
  | 'assistant_messages'
  | 'person_messages'
  | 'rated_positive'
  | 'rated_negative'
  | 'outcomes'
>

/** The name under which answers about a forbidden topic are counted begins with this. */
export const FORBIDDEN = 'forbidden: '

/** Transient conversations are counted during the seconds that they exist; their deletion makes the day stale. */
async function messageFigures(trx: Trx, { accountId, agentId, from, until }: Span): Promise<OfMessages> {
  const { rows } = await sql<OfMessages>`
    with found as (
      select role, feedback, coalesce(metadata #>> '{author,type}', '') = 'human_agent' as persons,
        coalesce(metadata ->> 'outcome', 'unreported') as outcome,
        metadata -> 'ungrounded' is not null or metadata -> 'isHeld' is not null as marked,
        metadata ->> 'forbiddenTopic' as forbidden
      from messages where account_id = ${accountId} and agent_id = ${agentId}
        and created_at >= ${from} and created_at < ${until}
        and conversation_id not in (
          select id from conversations where account_id = ${accountId} and agent_id = ${agentId}
            and source = ${PLAYGROUND} and created_at < ${until})
    ), ends as (
      select outcome as name from found where role = 'assistant' and not persons
      union all select 'marked' from found where role = 'assistant' and not persons and marked
      union all select ${FORBIDDEN} || forbidden from found where role = 'assistant' and not persons and forbidden is not null
    )
    select count(*) filter (where role = 'user')::int as user_messages,
      count(*) filter (where role = 'assistant' and not persons)::int as assistant_messages,
      count(*) filter (where role = 'assistant' and persons)::int as person_messages,
      count(*) filter (where feedback = 'positive')::int as rated_positive,
      count(*) filter (where feedback = 'negative')::int as rated_negative,
      (select coalesce(jsonb_object_agg(name, n), '{}')
        from (select name, count(*) as n from ends group by name) as by_name) as outcomes
    from found`.execute(trx)
  return onlyRow(rows)
}

/** Credits come from the ledger, which outlives conversations. */
async function otherFigures(
  trx: Trx,
  { accountId, agentId, from, until }: Span,
): Promise<Pick<DayFigures, 'credits' | 'unanswered'>> {
  const { rows } = await sql<{ credits: number; unanswered: number }>`
    select
      (select coalesce(sum(amount), 0)::bigint from credit_entries
        where account_id = ${accountId} and agent_id = ${agentId} and kind = 'usage' and state = 'settled'
          and created_at >= ${from} and created_at < ${until}) as credits,
      (select count(*)::int from unanswered_questions
        where account_id = ${accountId} and agent_id = ${agentId} and asked_at >= ${from} and asked_at < ${until})
        as unanswered`.execute(trx)
  return onlyRow(rows)
}

function onlyRow<T>([row]: T[]): T {
  if (!row) throw new Error('A query without groups returns one row.')
  return row
}
