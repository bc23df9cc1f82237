create table conversations (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  agent_id text not null references agents on delete cascade,
  source text not null,
  user_id text,
  title text,
  status text not null check (status in ('ongoing', 'ended', 'taken_over', 'paused')),
  embed_origin text,
  parent_conversation_id uuid,
  parent_summary text,
  -- The number of the newest message; given out under the row lock.
  last_seq integer not null default 0,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create index conversations_created on conversations (agent_id, source, created_at desc, id desc);
create index conversations_activity on conversations (agent_id, updated_at desc);
create index conversations_user on conversations (agent_id, user_id, source, updated_at desc, id desc)
  where user_id is not null;
create index conversations_account on conversations (account_id);

create table messages (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  agent_id text not null references agents on delete cascade,
  conversation_id uuid not null references conversations on delete cascade,
  -- Order inside the conversation, given under the conversation's row lock; clocks of processes differ.
  seq integer not null,
  role text not null check (role in ('user', 'assistant')),
  parts jsonb not null,
  metadata jsonb,
  feedback text check (feedback in ('positive', 'negative')),
  created_at timestamptz(3) not null default now(),
  unique (conversation_id, seq)
);
create index messages_agent on messages (agent_id);
create index messages_account on messages (account_id);

create table generations (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  agent_id text not null references agents on delete cascade,
  conversation_id uuid not null references conversations on delete cascade,
  user_message_id uuid not null,
  message_id uuid not null,
  model text not null,
  status text not null check (status in ('running', 'finished', 'failed', 'interrupted')),
  finish_reason text,
  credits integer not null,
  -- The text so far, written at least every second while it runs; empty once the message holds it.
  text text not null default '',
  -- The process that runs it renews the lease; past it anybody may close the generation.
  lease_until timestamptz(3) not null,
  started_at timestamptz(3) not null default now(),
  finished_at timestamptz(3)
);
create unique index generations_running on generations (conversation_id) where status = 'running';
create index generations_lease on generations (lease_until) where status = 'running';
create index generations_agent on generations (agent_id);
create index generations_account on generations (account_id);
