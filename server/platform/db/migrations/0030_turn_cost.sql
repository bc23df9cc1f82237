-- What a turn writes, kept small. Of credits without a limit nobody has to wait for anybody: their counter is spread
-- over slots, and what was used is the sum. Where there is a limit all meet at slot 0.
alter table credit_usage add column slot smallint not null default 0;
alter table credit_usage drop constraint credit_usage_pkey;
alter table credit_usage add primary key (owner_id, month, slot);
create index credit_entries_grants on credit_entries (account_id, month) where kind = 'grant';

-- Ends a statement whose parts belong together, undoing all of them; the reason is the message.
create function refuse(reason text) returns boolean language plpgsql as $$
begin
  raise exception using errcode = 'PY001', message = reason;
end $$;

-- What belongs to a conversation goes with it, and the conversation with its agent and account: a check of all three at
-- every row locked the agent's row for every message, and cost more than writing it.
alter table messages drop constraint messages_account_id_fkey, drop constraint messages_agent_id_fkey;
alter table generations drop constraint generations_account_id_fkey, drop constraint generations_agent_id_fkey;
alter table tool_calls drop constraint tool_calls_account_id_fkey, drop constraint tool_calls_agent_id_fkey;
alter table conversations drop constraint conversations_account_id_fkey;
alter table credit_entries drop constraint credit_entries_account_id_fkey;
alter table credit_usage drop constraint credit_usage_account_id_fkey;
drop index messages_account;
drop index generations_account;
drop index tool_calls_account;

create function accounts_removed() returns trigger language plpgsql as $$
begin
  delete from credit_entries where account_id in (select id from removed);
  delete from credit_usage where account_id in (select id from removed);
  return null;
end $$;
create trigger accounts_removed after delete on accounts referencing old table as removed
  for each statement execute function accounts_removed();
