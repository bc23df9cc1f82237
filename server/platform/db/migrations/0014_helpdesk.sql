-- What a member last said of being there; see server/accounts/members.ts for how long it holds.
alter table members
  add column presence text not null default 'offline' check (presence in ('online', 'away', 'offline')),
  add column last_seen_at timestamptz(3),
  -- Of two members with equally much to do the one who has waited longer gets the next ticket.
  add column last_assigned_at timestamptz(3);

-- Made for an agent when they are first looked at: one of each category, its default.
create table ticket_statuses (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  agent_id text not null references agents on delete cascade,
  category text not null check (category in ('new', 'on_you', 'on_customer', 'on_hold', 'closed', 'cancelled')),
  external_label text not null,
  internal_label text not null,
  color text not null,
  -- What a ticket of the category has unless somebody says otherwise.
  is_default boolean not null,
  position integer not null,
  created_at timestamptz(3) not null default now()
);
create index ticket_statuses_agent on ticket_statuses (agent_id, position);
create index ticket_statuses_account on ticket_statuses (account_id);
create unique index ticket_statuses_default on ticket_statuses (agent_id, category) where is_default;

create table teams (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  agent_id text not null references agents on delete cascade,
  name text not null,
  -- The one that everybody of the account is in.
  is_default boolean not null default false,
  created_at timestamptz(3) not null default now()
);
create unique index teams_name on teams (agent_id, lower(name));
create unique index teams_default on teams (agent_id) where is_default;
create index teams_account on teams (account_id);

create table team_members (
  team_id uuid not null references teams on delete cascade,
  member_id uuid not null references members on delete cascade,
  account_id uuid not null references accounts on delete cascade,
  primary key (team_id, member_id)
);
create index team_members_member on team_members (member_id);
create index team_members_account on team_members (account_id);

alter table tickets
  -- null: the default of its category.
  add column status_id uuid references ticket_statuses on delete set null,
  add column team_id uuid references teams on delete set null,
  -- Closed because the agent has the conversation again: what the customer writes then is the agent's.
  add column handed_back boolean not null default false;
create index tickets_status on tickets (status_id) where status_id is not null;
create index tickets_team on tickets (team_id) where team_id is not null;
-- The list's three orders, and its commonest filters in the first of them.
create index tickets_by_update on tickets (agent_id, updated_at, id);
create index tickets_by_creation on tickets (agent_id, created_at, id);
create index tickets_by_message
  on tickets (agent_id, (coalesce(last_message_at, timestamptz '1970-01-01 00:00:00+00')), id);
create index tickets_by_category on tickets (agent_id, status_category, updated_at, id);
create index tickets_by_assignee on tickets (agent_id, assignee_id, updated_at, id);
create index tickets_open_of_member on tickets (assignee_id) where status_category not in ('closed', 'cancelled');
-- The same expressions stand in server/helpdesk/search-tickets.ts.
create index tickets_words on tickets using gin (to_tsvector('simple',
  coalesce(subject, '') || ' ' || coalesce(description, '') || ' ' || coalesce(customer ->> 'name', '') || ' '
  || coalesce(customer ->> 'email', '')));
create index ticket_messages_words on ticket_messages using gin (to_tsvector('simple', left(content_text, 50000)))
  where content_text is not null;

create table ticket_tags (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  agent_id text not null references agents on delete cascade,
  name text not null,
  color text not null,
  created_at timestamptz(3) not null default now()
);
create unique index ticket_tags_name on ticket_tags (agent_id, lower(name));
create index ticket_tags_account on ticket_tags (account_id);

create table tagged_tickets (
  ticket_id uuid not null references tickets on delete cascade,
  tag_id uuid not null references ticket_tags on delete cascade,
  account_id uuid not null references accounts on delete cascade,
  primary key (ticket_id, tag_id)
);
create index tagged_tickets_tag on tagged_tickets (tag_id);
create index tagged_tickets_account on tagged_tickets (account_id);

create table canned_replies (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  agent_id text not null references agents on delete cascade,
  name text not null,
  content text not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create unique index canned_replies_name on canned_replies (agent_id, lower(name));
create index canned_replies_account on canned_replies (account_id);

create table helpdesk_settings (
  agent_id text primary key references agents on delete cascade,
  account_id uuid not null references accounts on delete cascade,
  -- Minutes by priority and kind of clock; what is missing has no target.
  targets jsonb not null default '{}',
  -- null: around the clock.
  business_hours jsonb,
  survey_enabled boolean not null default false,
  updated_at timestamptz(3) not null default now()
);
create index helpdesk_settings_account on helpdesk_settings (account_id);

-- A promise about a ticket and when it falls due.
create table ticket_clocks (
  ticket_id uuid not null references tickets on delete cascade,
  kind text not null check (kind in ('first_response', 'next_response', 'resolution')),
  account_id uuid not null references accounts on delete cascade,
  agent_id text not null references agents on delete cascade,
  target_minutes integer not null,
  started_at timestamptz(3) not null,
  -- null: it stands still, with so many milliseconds left.
  due_at timestamptz(3),
  left_ms bigint,
  met_at timestamptz(3),
  breached_at timestamptz(3),
  primary key (ticket_id, kind),
  check ((due_at is null) = (left_ms is not null))
);
create index ticket_clocks_due on ticket_clocks (due_at) where due_at is not null and met_at is null and breached_at is null;
create index ticket_clocks_account on ticket_clocks (account_id);
create index ticket_clocks_agent on ticket_clocks (agent_id);

create table ticket_surveys (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  agent_id text not null references agents on delete cascade,
  ticket_id uuid not null unique references tickets on delete cascade,
  -- SHA-256 of what stands in the link.
  token_hash text not null unique,
  rating integer check (rating between 1 and 5),
  comment text,
  created_at timestamptz(3) not null default now(),
  answered_at timestamptz(3)
);
create index ticket_surveys_agent on ticket_surveys (agent_id);
create index ticket_surveys_account on ticket_surveys (account_id);
