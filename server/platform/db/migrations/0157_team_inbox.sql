-- compatible_from: 0076
-- The inbox of all agents: until when a ticket is put off, since when it waits for the team, when the next of its
-- targets is due, and the language it was opened in.
alter table tickets add column wakes_at timestamptz(3), add column waiting_since timestamptz(3),
  add column due_at timestamptz(3), add column language text;

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
