-- compatible_from: 0076
-- The inbox of all agents: until when a ticket is put off, since when it waits for the team, when the next of its
-- targets is due, and the language it was opened in.
alter table tickets add column wakes_at timestamptz(3), add column waiting_since timestamptz(3),
  add column due_at timestamptz(3), add column language text;
update tickets set
  waiting_since = case when status_category in ('new', 'on_you') then coalesce(last_message_at, created_at) end,
  due_at = (select min(ticket_clocks.due_at) from ticket_clocks
    where ticket_clocks.ticket_id = tickets.id and met_at is null);
create index tickets_wake on tickets (wakes_at) where wakes_at is not null;
-- The orders of the list, of which the first replaces the index on the account alone.
create index tickets_of_account_by_update on tickets (account_id, updated_at, id);
drop index tickets_account;
create index tickets_of_account_by_creation on tickets (account_id, created_at, id);
create index tickets_of_account_by_message
  on tickets (account_id, (coalesce(last_message_at, timestamptz '1970-01-01 00:00:00+00')), id);
create index tickets_of_account_by_waiting
  on tickets (account_id, (coalesce(waiting_since, timestamptz '9999-12-31 00:00:00+00')), id);
create index tickets_of_account_by_target
  on tickets (account_id, (coalesce(due_at, timestamptz '9999-12-31 00:00:00+00')), id);

create table inbox_views (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  -- Whose view it is; null: everybody's.
  member_id uuid references members on delete cascade,
  team_id uuid references teams on delete cascade,
  name text not null,
  query jsonb not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  check (member_id is null or team_id is null)
);
create index inbox_views_account on inbox_views (account_id, created_at, id);
create index inbox_views_member on inbox_views (member_id) where member_id is not null;
create index inbox_views_team on inbox_views (team_id) where team_id is not null;

-- The newest messages that hold a frequent word are found by walking back in time.
create index ticket_messages_of_agent_by_time on ticket_messages (agent_id, created_at, id);
drop index ticket_messages_agent;
