-- compatible_from: 0076
-- What a channel delivered and the service could not read or use; the channel will not send it again.
create table unreadable_events (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  agent_id text not null references agent_ids on delete cascade,
  channel text not null check (channel in ('messaging')),
  kind text not null,
  -- The channel's own id of it, or what it has in place of one.
  reference text not null,
  detail text,
  -- Whether somebody wrote something that nobody has read.
  is_message boolean not null,
  thread_id uuid references channel_threads on delete cascade,
  count integer not null default 1,
  first_at timestamptz(3) not null default now(),
  last_at timestamptz(3) not null default now(),
  constraint unreadable_events_once unique (agent_id, channel, kind, reference)
);
create index unreadable_events_newest on unreadable_events (agent_id, last_at desc, id desc);
create index unreadable_events_thread on unreadable_events (thread_id) where thread_id is not null;
create index unreadable_events_account on unreadable_events (account_id);
