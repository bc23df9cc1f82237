alter table conversations
  -- Deleted messages (a retry replaces some): with them last_seq counts what is there.
  add column cut_messages integer not null default 0,
  add column sentiment text check (sentiment in ('positive', 'neutral', 'negative')),
  add column has_voice boolean not null default false;
update conversations set cut_messages =
  last_seq - (select count(*) from messages where conversation_id = conversations.id);

create table conversation_topics (
  account_id uuid not null references accounts on delete cascade,
  agent_id text not null references agents on delete cascade,
  conversation_id uuid not null references conversations on delete cascade,
  name text not null,
  primary key (conversation_id, name)
);
create index conversation_topics_name on conversation_topics (agent_id, name);
create index conversation_topics_account on conversation_topics (account_id);

-- What the search looks through: one row a conversation, made from it by the indexer within seconds.
create table conversation_search (
  conversation_id uuid primary key references conversations on delete cascade,
  account_id uuid not null,
  agent_id text not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  -- The values of the filters as lexemes like `/status:ongoing`, the agent and the day among them.
  facets tsvector not null,
  -- The words of title and messages in our own terms (server/search/text-tokens.ts).
  words tsvector not null,
  -- How far a long conversation has been read, and how much of it was deleted then.
  indexed_seq integer not null,
  indexed_cut integer not null
);
create index conversation_search_terms on conversation_search using gin (facets, words);
create index conversation_search_activity
  on conversation_search (agent_id, updated_at desc, conversation_id desc);

-- Conversations that changed, appended by whoever changes them: nobody waits for anybody.
create table search_queue (
  id bigint generated always as identity primary key,
  conversation_id uuid not null
);

-- Totals: the sum of n over a key. Changes are appended, and folded into one row a key from time to time, so that
-- conversations of one agent can begin at the same time. Rows of an agent have a day (UTC) and the user '';
-- rows of a user have no day.
-- No foreign keys: who folds must never wait for who deletes an agent.
create table conversation_counts (
  id bigint generated always as identity primary key,
  account_id uuid not null,
  agent_id text not null,
  source text not null,
  user_id text not null,
  day date,
  n integer not null,
  is_folded boolean not null default false
);
create index conversation_counts_key on conversation_counts (agent_id, user_id, source, day) include (n);
create index conversation_counts_fresh on conversation_counts (id) where not is_folded;

create function agents_removed() returns trigger language plpgsql as $$
begin
  delete from conversation_counts where agent_id in (select id from removed);
  return null;
end $$;
create trigger agents_removed after delete on agents referencing old table as removed
  for each statement execute function agents_removed();

create function count_conversation(c conversations, change integer) returns void language sql as $$
  insert into conversation_counts (account_id, agent_id, source, user_id, day, n)
  select c.account_id, c.agent_id, c.source, key.user_id, key.day, change
  from (values ('', (c.created_at at time zone 'UTC')::date), (c.user_id, null)) as key (user_id, day)
  -- When an agent is deleted its conversations go with it, and its counts, too.
  where key.user_id is not null and not c.transient and exists (select from agents where id = c.agent_id)
$$;

create function conversation_added() returns trigger language plpgsql as $$
begin
  insert into conversation_counts (account_id, agent_id, source, user_id, day, n)
    values (new.account_id, new.agent_id, new.source, '', (new.created_at at time zone 'UTC')::date, 1);
  if new.user_id is not null then
    insert into conversation_counts (account_id, agent_id, source, user_id, day, n)
      values (new.account_id, new.agent_id, new.source, new.user_id, null, 1);
  end if;
  insert into search_queue (conversation_id) values (new.id);
  return null;
end $$;
create trigger conversation_added after insert on conversations for each row
  when (not new.transient) execute function conversation_added();

create function conversation_removed() returns trigger language plpgsql as $$
begin
  perform count_conversation(old, -1);
  return null;
end $$;
create trigger conversation_removed after delete on conversations
  for each row execute function conversation_removed();

create function conversation_moved() returns trigger language plpgsql as $$
begin
  perform count_conversation(old, -1);
  perform count_conversation(new, 1);
  return null;
end $$;
create trigger conversation_moved after update on conversations for each row
  when (old.agent_id <> new.agent_id or old.source <> new.source or old.created_at <> new.created_at
    or old.transient <> new.transient or old.user_id is distinct from new.user_id)
  execute function conversation_moved();

create function queue_conversation() returns trigger language plpgsql as $$
begin
  insert into search_queue (conversation_id) values (new.id);
  return null;
end $$;
create trigger conversation_changed after update on conversations for each row
  when (old.title is distinct from new.title or old.status <> new.status
    or old.sentiment is distinct from new.sentiment or old.has_voice <> new.has_voice
    or old.source <> new.source or old.user_id is distinct from new.user_id
    or old.created_at <> new.created_at)
  execute function queue_conversation();

create function messages_removed() returns trigger language plpgsql as $$
begin
  if not exists (select from removed) then return null; end if;
  update conversations set cut_messages = cut_messages + gone.n
    from (select conversation_id, count(*) as n from removed group by 1) as gone
    where conversations.id = gone.conversation_id;
  insert into search_queue (conversation_id) select distinct conversation_id from removed;
  return null;
end $$;
create trigger messages_removed after delete on messages referencing old table as removed
  for each statement execute function messages_removed();

-- For rows that belong to a conversation.
create function queue_conversation_of() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' and old.conversation_id is not null then
    insert into search_queue (conversation_id) values (old.conversation_id);
  end if;
  if tg_op = 'INSERT' and new.conversation_id is not null
    or tg_op = 'UPDATE' and new.conversation_id is distinct from old.conversation_id then
    insert into search_queue (conversation_id) values (new.conversation_id);
  end if;
  return null;
end $$;
create trigger message_added after insert on messages
  for each row execute function queue_conversation_of();
create trigger message_changed after update on messages for each row
  when (old.parts is distinct from new.parts or old.feedback is distinct from new.feedback)
  execute function queue_conversation_of();
create trigger tool_call_added after insert on tool_calls
  for each row execute function queue_conversation_of();
create trigger tool_call_changed after update on tool_calls for each row
  when (old.status <> new.status) execute function queue_conversation_of();
create trigger procedure_run_added after insert on procedure_runs
  for each row execute function queue_conversation_of();
create trigger procedure_run_changed after update on procedure_runs for each row
  when (old.status <> new.status) execute function queue_conversation_of();
create trigger ticket_added after insert or delete on tickets
  for each row execute function queue_conversation_of();
create trigger ticket_changed after update on tickets for each row
  when (old.conversation_id is distinct from new.conversation_id) execute function queue_conversation_of();
create trigger topic_changed after insert or update or delete on conversation_topics
  for each row execute function queue_conversation_of();

insert into conversation_counts (account_id, agent_id, source, user_id, day, n, is_folded)
  select account_id, agent_id, source, '', (created_at at time zone 'UTC')::date, count(*), true
    from conversations where not transient group by 1, 2, 3, 5
  union all
  select account_id, agent_id, source, user_id, null, count(*), true
    from conversations where user_id is not null and not transient group by 1, 2, 3, 4;
insert into search_queue (conversation_id) select id from conversations where not transient;
