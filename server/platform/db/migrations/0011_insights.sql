-- When a conversation has ended, or nothing has happened in it for half an hour, it is looked at: what it felt like,
-- what it was about, what was not answered. Null: that has been done for its present state.
alter table conversations
  add column analysis_due timestamptz(3),
  -- Whoever looks at it holds it until then; the value is also the proof that nothing has happened meanwhile.
  add column analysis_held timestamptz(3),
  add column analysis_tries smallint not null default 0,
  add column analysed_at timestamptz(3),
  add column sentiment_by text check (sentiment_by in ('model', 'heuristic')),
  add column topics_by text check (topics_by in ('model', 'heuristic')),
  -- ISO 3166-1 alpha-2, where the channel knows it.
  add column country text;
-- What is older would keep a model busy for days.
update conversations set analysis_due = now() where updated_at > now() - interval '30 days' and not transient;
alter table conversations alter column analysis_due set default now() + interval '30 minutes';
create index conversations_to_analyse on conversations (analysis_due) where analysis_due is not null;
create index conversations_held on conversations (analysis_held) where analysis_held is not null;

-- In the row that is written anyway: a turn pays next to nothing for it. What has ended may still be rated for a while;
-- what has been looked at is not looked at again only because it ends.
create function plan_analysis() returns trigger language plpgsql as $$
begin
  if (old.last_seq, old.cut_messages, old.generation_count) <> (new.last_seq, new.cut_messages, new.generation_count) then
    new.analysis_due := now() + interval '30 minutes';
    new.analysis_held := null;
    new.analysis_tries := 0;
  end if;
  if new.status = 'ended' and new.analysis_due is not null then
    new.analysis_due := least(new.analysis_due, now() + interval '5 minutes');
  end if;
  return new;
end $$;
create trigger conversation_active before update on conversations for each row
  when (old.last_seq <> new.last_seq or old.cut_messages <> new.cut_messages
    or old.generation_count <> new.generation_count or old.status <> new.status)
  execute function plan_analysis();

create table topics (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  agent_id text not null references agents on delete cascade,
  name text not null,
  -- The name as it is compared.
  key text not null,
  description text not null,
  -- Names of topics that were merged into this one: they are not found again.
  aliases jsonb not null default '[]',
  origin text not null check (origin in ('manual', 'model', 'heuristic')),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint topics_key unique (agent_id, key)
);
create index topics_list on topics (agent_id, created_at desc, id desc);
create index topics_account on topics (account_id);

create table topic_settings (
  agent_id text primary key references agents on delete cascade,
  account_id uuid not null references accounts on delete cascade,
  -- No topics are added but by hand.
  frozen boolean not null default false,
  -- Keys of deleted topics: they are not found again.
  declined jsonb not null default '[]'
);
create index topic_settings_account on topic_settings (account_id);

alter table conversation_topics add column topic_id uuid references topics on delete cascade;
create index conversation_topics_topic on conversation_topics (topic_id);

-- Topics that too few conversations share to be any yet.
create table topic_candidates (
  conversation_id uuid not null references conversations on delete cascade,
  key text not null,
  account_id uuid not null references accounts on delete cascade,
  agent_id text not null references agents on delete cascade,
  label text not null,
  origin text not null check (origin in ('model', 'heuristic')),
  created_at timestamptz(3) not null default now(),
  primary key (conversation_id, key)
);
create index topic_candidates_key on topic_candidates (agent_id, key);
create index topic_candidates_age on topic_candidates (created_at);
create index topic_candidates_account on topic_candidates (account_id);

create table unanswered_groups (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  agent_id text not null references agents on delete cascade,
  question text not null,
  -- Hash of the words of the question: equal questions are one group.
  key text not null,
  status text not null default 'open' check (status in ('open', 'answered', 'dismissed')),
  source_id uuid references sources on delete set null,
  answered_at timestamptz(3),
  count integer not null default 0,
  last_asked_at timestamptz(3) not null,
  constraint unanswered_groups_key unique (agent_id, key)
);
create index unanswered_groups_list on unanswered_groups (agent_id, status, count desc, id desc);
create index unanswered_groups_recent on unanswered_groups (agent_id, last_asked_at desc);
create index unanswered_groups_account on unanswered_groups (account_id);
create index unanswered_groups_source on unanswered_groups (source_id) where source_id is not null;

create table unanswered_questions (
  -- The answer that was none.
  message_id uuid primary key references messages on delete cascade,
  account_id uuid not null references accounts on delete cascade,
  agent_id text not null references agents on delete cascade,
  conversation_id uuid not null references conversations on delete cascade,
  group_id uuid not null references unanswered_groups on delete cascade,
  question text not null,
  -- What a person said later in the same conversation.
  suggested_answer text,
  asked_at timestamptz(3) not null
);
create index unanswered_questions_group on unanswered_questions (group_id, asked_at desc);
create index unanswered_questions_suggestion on unanswered_questions (group_id, asked_at desc)
  where suggested_answer is not null;
create index unanswered_questions_day on unanswered_questions (agent_id, asked_at);
create index unanswered_questions_conversation on unanswered_questions (conversation_id);
create index unanswered_questions_account on unanswered_questions (account_id);

-- Figures of an agent's day (UTC), made again as a whole when something of that day has changed.
create table insight_days (
  agent_id text not null references agents on delete cascade,
  day date not null,
  account_id uuid not null references accounts on delete cascade,
  is_stale boolean not null,
  computed_at timestamptz(3),
  took_ms integer not null default 0,
  -- By the day on which the conversation began.
  conversations integer not null default 0,
  positive integer not null default 0,
  neutral integer not null default 0,
  negative integer not null default 0,
  settled integer not null default 0,
  escalated integer not null default 0,
  deflected integer not null default 0,
  topics jsonb not null default '{}',
  sources jsonb not null default '{}',
  countries jsonb not null default '{}',
  -- By the day of the message, question or reply.
  user_messages integer not null default 0,
  assistant_messages integer not null default 0,
  person_messages integer not null default 0,
  rated_positive integer not null default 0,
  rated_negative integer not null default 0,
  unanswered integer not null default 0,
  credits bigint not null default 0,
  primary key (agent_id, day)
);
create index insight_days_stale on insight_days (computed_at nulls first) where is_stale;
create index insight_days_account on insight_days (account_id);

-- What has changed, appended by whoever changes it: nobody waits for anybody. A day to be made again, with it perhaps a
-- conversation to be looked at again, or a group of questions to be counted again.
create table insights_queue (
  id bigint generated always as identity primary key,
  agent_id text not null,
  day date,
  conversation_id uuid,
  group_id uuid
);
create index insights_queue_groups on insights_queue (agent_id) where group_id is not null;

-- Days are computed from what was said on them.
drop index messages_agent;
create index messages_agent on messages (agent_id, created_at);
create index credit_entries_agent on credit_entries (agent_id, created_at) where kind = 'usage';

create function utc_day(moment timestamptz) returns date language sql immutable as
  $$ select (moment at time zone 'UTC')::date $$;

create function insights_conversation_changed() returns trigger language plpgsql as $$
begin
  insert into insights_queue (agent_id, day) values (new.agent_id, utc_day(new.created_at));
  if tg_op = 'UPDATE' and (old.agent_id, utc_day(old.created_at)) <> (new.agent_id, utc_day(new.created_at)) then
    insert into insights_queue (agent_id, day) values (old.agent_id, utc_day(old.created_at));
  end if;
  return null;
end $$;
create trigger insights_conversation_added after insert on conversations for each row
  when (not new.transient) execute function insights_conversation_changed();
create trigger insights_conversation_changed after update on conversations for each row
  when (old.status <> new.status or old.sentiment is distinct from new.sentiment
    or (old.analysis_due is null) <> (new.analysis_due is null) or old.country is distinct from new.country
    or old.source <> new.source or old.agent_id <> new.agent_id or old.created_at <> new.created_at
    or old.transient <> new.transient)
  execute function insights_conversation_changed();

-- When an agent is deleted all of its rows go: nothing is to be counted again.
create function insights_conversations_removed() returns trigger language plpgsql as $$
begin
  insert into insights_queue (agent_id, day)
    select distinct agent_id, utc_day(created_at) from removed
    where not transient and exists (select from agents where id = removed.agent_id);
  return null;
end $$;
create trigger insights_conversations_removed after delete on conversations referencing old table as removed
  for each statement execute function insights_conversations_removed();

create function insights_messages_added() returns trigger language plpgsql as $$
begin
  insert into insights_queue (agent_id, day) select distinct agent_id, utc_day(created_at) from added;
  return null;
end $$;
create trigger insights_messages_added after insert on messages referencing new table as added
  for each statement execute function insights_messages_added();

create function insights_messages_removed() returns trigger language plpgsql as $$
begin
  insert into insights_queue (agent_id, day)
    select distinct agent_id, utc_day(created_at) from removed
    where exists (select from agents where id = removed.agent_id);
  return null;
end $$;
create trigger insights_messages_removed after delete on messages referencing old table as removed
  for each statement execute function insights_messages_removed();

create function insights_message_rated() returns trigger language plpgsql as $$
begin
  insert into insights_queue (agent_id, day, conversation_id)
    values (new.agent_id, utc_day(new.created_at), new.conversation_id);
  return null;
end $$;
create trigger insights_message_rated after update on messages for each row
  when (old.feedback is distinct from new.feedback) execute function insights_message_rated();

create function insights_credits_changed() returns trigger language plpgsql as $$
begin
  insert into insights_queue (agent_id, day) values (new.agent_id, utc_day(new.created_at));
  return null;
end $$;
create trigger insights_credits_added after insert on credit_entries for each row
  when (new.agent_id is not null and new.kind = 'usage' and new.state = 'settled')
  execute function insights_credits_changed();
create trigger insights_credits_settled after update on credit_entries for each row
  when (new.agent_id is not null and new.kind = 'usage' and (old.state = 'settled') <> (new.state = 'settled'))
  execute function insights_credits_changed();

create function insights_ticket_changed() returns trigger language plpgsql as $$
begin
  insert into insights_queue (agent_id, day, conversation_id)
    select agent_id, utc_day(created_at), id from conversations
    where id = new.conversation_id or (tg_op = 'UPDATE' and id = old.conversation_id);
  return null;
end $$;
create trigger insights_ticket_added after insert on tickets for each row
  when (new.conversation_id is not null) execute function insights_ticket_changed();
create trigger insights_ticket_moved after update on tickets for each row
  when (old.conversation_id is distinct from new.conversation_id) execute function insights_ticket_changed();

create function insights_topics_changed() returns trigger language plpgsql as $$
begin
  insert into insights_queue (agent_id, day)
    select distinct c.agent_id, utc_day(c.created_at) from changed join conversations c on c.id = changed.conversation_id;
  return null;
end $$;
create trigger insights_topics_added after insert on conversation_topics referencing new table as changed
  for each statement execute function insights_topics_changed();
create trigger insights_topics_moved after update on conversation_topics referencing new table as changed
  for each statement execute function insights_topics_changed();
create trigger insights_topics_removed after delete on conversation_topics referencing old table as changed
  for each statement execute function insights_topics_changed();

create function insights_questions_added() returns trigger language plpgsql as $$
begin
  insert into insights_queue (agent_id, day) select distinct agent_id, utc_day(asked_at) from added;
  return null;
end $$;
create trigger insights_questions_added after insert on unanswered_questions referencing new table as added
  for each statement execute function insights_questions_added();

create function insights_questions_removed() returns trigger language plpgsql as $$
begin
  insert into insights_queue (agent_id, day, group_id)
    select distinct agent_id, key.day, key.group_id
    from removed, lateral (values (utc_day(asked_at), null::uuid), (null, group_id)) as key (day, group_id)
    where exists (select from agents where id = removed.agent_id);
  return null;
end $$;
create trigger insights_questions_removed after delete on unanswered_questions referencing old table as removed
  for each statement execute function insights_questions_removed();

create function insights_agents_removed() returns trigger language plpgsql as $$
begin
  -- What somebody is reading right now he drops himself.
  delete from insights_queue where id in (
    select id from insights_queue where agent_id in (select id from removed) for update skip locked);
  return null;
end $$;
create trigger insights_agents_removed after delete on agents referencing old table as removed
  for each statement execute function insights_agents_removed();

-- As of 0010, but for a ticket whose conversation is deleted: it has none from then on.
create or replace function queue_conversation_of() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' and old.conversation_id is not null then
    insert into search_queue (conversation_id) values (old.conversation_id);
  end if;
  if tg_op <> 'DELETE' and new.conversation_id is not null
    and (tg_op = 'INSERT' or new.conversation_id is distinct from old.conversation_id) then
    insert into search_queue (conversation_id) values (new.conversation_id);
  end if;
  return null;
end $$;

insert into insights_queue (agent_id, day)
  select agent_id, utc_day(created_at) from conversations where not transient
  union select agent_id, utc_day(created_at) from messages
  union select agent_id, utc_day(created_at) from credit_entries
    where agent_id is not null and kind = 'usage' and state = 'settled';
