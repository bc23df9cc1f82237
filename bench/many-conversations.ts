import { sql } from 'kysely'
import type { Db } from '../server/platform/db/database.ts'
import type { AgentRef } from '../server/platform/db/refs.ts'

/** The most distinct texts of messages. Each is repeated in as many conversations as necessary. */
const MAX_TEXTS = 50_000
const WORDS_IN_A_TEXT = 20
const VOCABULARY = 20_000
const MESSAGES = 5

/** Returns the word of a rank, of which 0 is the most common. No stemmer changes the words. */
export const wordOf = (rank: number): string => `q${rank.toString(36)}x`
const wordSql = (rank: string) => sql.raw(`'q' || pg_temp.base36(${rank}) || 'x'`)

/**
 * Fills an agent with conversations of five messages each, spread over the last 380 days, in few statements. The
 * frequencies of words are those of a language (proportional to 1/rank), and every filter has common and rare
 * values. The rows of the search index are created here, because the indexer would take an hour for a million.
 */
export async function addManyConversations(
  db: Db,
  { accountId, agentId }: AgentRef,
  conversations: number,
): Promise<void> {
  await db.connection().execute(async (one) => {
    // On a busy machine, some of these statements exceed the time limit of requests.
    await sql`set statement_timeout to 0`.execute(one)
    for (const table of ['conversations', 'messages', 'tool_calls', 'tickets', 'conversation_topics'])
      await sql`alter table ${sql.table(table)} disable trigger user`.execute(one)
    await makeTexts(one, Math.min(conversations, MAX_TEXTS))
    await sql`insert into conversations (id, account_id, agent_id, source, user_id, status, title, sentiment, last_seq,
        escalated, created_at, updated_at, analysis_due, analysed_at)
      select gen_random_uuid(), ${accountId}, ${agentId},
        (array['API', 'API', 'API', 'Widget or Iframe', 'Widget or Iframe', 'Email', 'Phone'])[1 + i % 7],
        case when i % 3 = 0 then 'user-' || i % 10000 end,
        (array['ongoing', 'ended', 'ended', 'ended'])[1 + i % 4], 'Case ' || i,
        (array['positive', 'neutral', 'neutral', 'negative', null])[1 + i % 5], ${sql.lit(MESSAGES)},
        i % 40 = 0, now() - i * (interval '380 days' / ${sql.lit(conversations)}),
        now() - i * (interval '380 days' / ${sql.lit(conversations)}) + interval '1 hour' * (i % 24),
        null, now()
      from generate_series(1, ${sql.lit(conversations)}) as i`.execute(one)
    // The other columns follow from the number in the title.
    await sql`create temporary table made as
      select id, substr(title, 6)::bigint as i, user_id, source, status, sentiment, title, created_at, updated_at
      from conversations where agent_id = ${agentId}`.execute(one)
    await sql`insert into messages (id, account_id, agent_id, conversation_id, seq, role, parts, feedback, created_at)
      select gen_random_uuid(), ${accountId}, ${agentId}, made.id, k, case when k % 2 = 1 then 'user' else 'assistant' end,
        jsonb_build_array(jsonb_build_object('type', 'text', 'text', texts.text)),
        case when k = 2 and i % 50 = 0 then 'negative' when k = 2 and i % 20 = 1 then 'positive' end, created_at
      from made cross join generate_series(1, ${sql.lit(MESSAGES)}) as k
      join texts on texts.n = pg_temp.text_of(made.i, k)`.execute(one)
    await sql`insert into tool_calls (id, account_id, agent_id, conversation_id, message_id, generation_id, name, type,
        input, status)
      select gen_random_uuid(), ${accountId}, ${agentId}, id, id, id, case when i % 20 = 0 then 'refund' else 'find_order' end,
        'http', '{}', case when i % 100 = 0 then 'error' else 'success' end
      from made where i % 10 = 0`.execute(one)
    await sql`insert into tickets (id, account_id, agent_id, number, status_category, customer, channel, conversation_id)
      select gen_random_uuid(), ${accountId}, ${agentId}, i, 'closed', '{}', 'api', id from made where i % 40 = 0`.execute(
      one,
    )
    await sql`insert into conversation_topics (account_id, agent_id, conversation_id, name)
      select ${accountId}, ${agentId}, id, 'topic-' || i % 30 from made where i % 2 = 0`.execute(one)
    await addSearchRows(one, { accountId, agentId })
    await sql`insert into conversation_counts (account_id, agent_id, source, user_id, day, n, is_folded)
      select ${accountId}::uuid, ${agentId}, source, '', (created_at at time zone 'UTC')::date, count(*), true
        from made group by source, 5
      union all
      select ${accountId}::uuid, ${agentId}, source, user_id, null, count(*), true
        from made where user_id is not null group by source, user_id`.execute(one)
    await sql`drop table made, texts`.execute(one)
    for (const table of ['conversations', 'messages', 'tool_calls', 'tickets', 'conversation_topics'])
      await sql`alter table ${sql.table(table)} enable trigger user`.execute(one)
    for (const table of [
      'conversations',
      'messages',
      'conversation_search',
      'conversation_counts',
      'tool_calls',
    ])
      await sql`vacuum analyze ${sql.table(table)}`.execute(one)
    await sql`reset statement_timeout`.execute(one)
  })
}

async function makeTexts(db: Db, texts: number): Promise<void> {
  await sql`create or replace function pg_temp.base36(n bigint) returns text language sql immutable as $$
    with recursive digits (rest, text) as (
      select n / 36, substr('0123456789abcdefghijklmnopqrstuvwxyz', (n % 36)::int + 1, 1)
      union all
      select rest / 36, substr('0123456789abcdefghijklmnopqrstuvwxyz', (rest % 36)::int + 1, 1) || text
      from digits where rest > 0)
    select text from digits where rest = 0 $$`.execute(db)
  await sql`create or replace function pg_temp.text_of(i bigint, k integer) returns integer language sql immutable as $$
    select ((i * 7919 + k * 104729) % ${sql.lit(texts)})::integer $$`.execute(db)
  await sql`select setseed(0.5)`.execute(db)
  await sql`create temporary table vocabulary as
    select rank, ${wordSql('rank')} as word from generate_series(0, ${sql.lit(VOCABULARY - 1)}) as rank`.execute(
    db,
  )
  await sql`create temporary table texts as
    select n, string_agg(word, ' ' order by k) as text, to_tsvector('simple', string_agg(word, ' ' order by k)) as words
    from (
      select n, k, floor(power(${sql.lit(VOCABULARY)}::float8, random()))::bigint - 1 as rank
      from generate_series(0, ${sql.lit(texts - 1)}) as n, generate_series(1, ${sql.lit(WORDS_IN_A_TEXT)}) as k
    ) as drawn join vocabulary using (rank) group by n`.execute(db)
  await sql`create unique index on texts (n)`.execute(db)
  await sql`analyze texts`.execute(db)
  await sql`drop table vocabulary`.execute(db)
}

async function addSearchRows(db: Db, { accountId, agentId }: AgentRef): Promise<void> {
  // The rows are inserted before the index is created, because building a GIN index is much faster than growing it.
  await sql`drop index conversation_search_terms`.execute(db)
  await sql`insert into conversation_search (conversation_id, account_id, agent_id, created_at, updated_at, facets, words,
      indexed_seq, indexed_cut)
    select id, ${accountId}, ${agentId}, created_at, updated_at,
      array_to_tsvector(array_remove(array[
        '/agent:' || ${agentId}, '/day:' || to_char(created_at at time zone 'UTC', 'YYYY-MM-DD'),
        '/month:' || to_char(created_at at time zone 'UTC', 'YYYY-MM'), '/source:' || source, '/status:' || status,
        '/sentiment:' || coalesce(sentiment, 'unspecified'), '/voice:false', '/user:' || user_id,
        case when i % 2 = 0 then '/topic:topic-' || i % 30 else '/topic:unspecified' end,
        case when i % 40 = 0 then '/escalated:true' end,
        case when i % 50 = 0 then '/feedback:negative' when i % 20 = 1 then '/feedback:positive' end,
        case when i % 10 = 0 then '/action-type:http' end,
        case when i % 20 = 0 then '/tool:refund' when i % 10 = 0 then '/tool:find_order' end,
        case when i % 100 = 0 then '/outcome:error' when i % 10 = 0 then '/outcome:success' end,
        case when i % 100 = 0 then '/outcome:error:refund' when i % 20 = 0 then '/outcome:success:refund'
          when i % 10 = 0 then '/outcome:success:find_order' end], null)),
      setweight(to_tsvector('simple', title), 'A') || t1.words || t2.words || t3.words || t4.words || t5.words,
      ${sql.lit(MESSAGES)}, 0
    from made
    ${sql.join(
      [1, 2, 3, 4, 5].map(
        (k) =>
          sql`join texts as ${sql.raw(`t${k}`)} on ${sql.raw(`t${k}`)}.n = pg_temp.text_of(made.i, ${sql.lit(k)})`,
      ),
      sql` `,
    )}
    order by created_at`.execute(db)
  await sql`create index conversation_search_terms on conversation_search using gin (facets, words)`.execute(
    db,
  )
}
