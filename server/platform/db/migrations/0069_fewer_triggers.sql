-- For each statement, PostgreSQL reads the conditions of the table's triggers anew, and calls a trigger of a statement
-- even when it touched no row. The triggers that a turn meets now name their columns, which costs nothing to check, and
-- those that do the same at the same time are one.

-- What an added conversation queues for the search, its first message queues as well.
create or replace function conversation_added() returns trigger language plpgsql as $$
begin
  insert into conversation_counts (account_id, agent_id, source, user_id, day, n)
    values (new.account_id, new.agent_id, new.source, '', utc_day(new.created_at), 1);
  if new.user_id is not null then
    insert into conversation_counts (account_id, agent_id, source, user_id, day, n)
      values (new.account_id, new.agent_id, new.source, new.user_id, null, 1);
  end if;
  insert into insights_queue (agent_id, day) values (new.agent_id, utc_day(new.created_at));
  if new.last_seq = new.cut_messages then
    insert into search_queue (conversation_id) values (new.id);
  end if;
  return null;
end $$;
drop trigger insights_conversation_added on conversations;

-- A column that a trigger changes before the update does not count as updated, so this one also queues what follows
-- from `analysis_due`.
create or replace function plan_analysis() returns trigger language plpgsql as $$
begin
  if old.last_seq <> new.last_seq or old.cut_messages <> new.cut_messages
    or old.generation_count <> new.generation_count then
    if new.analysis_due is null and not new.transient then
      insert into insights_queue (agent_id, day) values (new.agent_id, utc_day(new.created_at));
    end if;
    new.analysis_due := now() + interval '30 minutes';
    new.analysis_held := null;
    new.analysis_tries := 0;
  end if;
  if new.status = 'ended' and new.analysis_due is not null then
    new.analysis_due := least(new.analysis_due, now() + interval '5 minutes');
  end if;
  return new;
end $$;
drop trigger conversation_active on conversations;
create trigger conversation_active before update of last_seq, cut_messages, generation_count, status on conversations
  for each row execute function plan_analysis();

drop trigger conversation_taken_over on conversations;
create trigger conversation_taken_over before insert or update of status, escalated on conversations for each row
  when (new.status = 'taken_over' and not new.escalated) execute function conversation_taken_over();

drop trigger conversation_changed on conversations;
create trigger conversation_changed
  after update of title, status, sentiment, has_voice, source, user_id, created_at on conversations for each row
  when (old.title is distinct from new.title or old.status <> new.status
    or old.sentiment is distinct from new.sentiment or old.has_voice <> new.has_voice
    or old.source <> new.source or old.user_id is distinct from new.user_id
    or old.created_at <> new.created_at)
  execute function queue_conversation();

drop trigger conversation_moved on conversations;
create trigger conversation_moved
  after update of agent_id, source, created_at, transient, user_id on conversations for each row
  when (old.agent_id <> new.agent_id or old.source <> new.source or old.created_at <> new.created_at
    or old.transient <> new.transient or old.user_id is distinct from new.user_id)
  execute function conversation_moved();

drop trigger insights_conversation_changed on conversations;
create trigger insights_conversation_changed
  after update of status, sentiment, analysis_due, country, source, agent_id, created_at, transient on conversations
  for each row
  when (old.status <> new.status or old.sentiment is distinct from new.sentiment
    or (old.analysis_due is null) <> (new.analysis_due is null)
    or old.country is distinct from new.country or old.source <> new.source or old.agent_id <> new.agent_id
    or old.created_at <> new.created_at or old.transient <> new.transient)
  execute function insights_conversation_changed();

-- Both queues at once, without a table of the added rows.
create function message_added() returns trigger language plpgsql as $$
begin
  insert into search_queue (conversation_id) values (new.conversation_id);
  insert into insights_queue (agent_id, day) values (new.agent_id, utc_day(new.created_at));
  return null;
end $$;
drop trigger insights_messages_added on messages;
drop function insights_messages_added();
drop trigger message_added on messages;
create trigger message_added after insert on messages for each row execute function message_added();

drop trigger message_changed on messages;
create trigger message_changed after update of parts, feedback on messages for each row
  when (old.parts is distinct from new.parts or old.feedback is distinct from new.feedback)
  execute function queue_conversation_of();
drop trigger insights_message_rated on messages;
create trigger insights_message_rated after update of feedback on messages for each row
  when (old.feedback is distinct from new.feedback) execute function insights_message_rated();

-- What begins with the same column is found by the other index.
drop index conversations_contact;

-- A row that is updated soon after it was written has room on its page.
alter table conversations set (fillfactor = 85);
alter table credit_usage set (fillfactor = 50);
