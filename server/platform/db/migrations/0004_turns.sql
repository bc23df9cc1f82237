-- Generations of several steps: what was said so far is a list of parts, not one text.
alter table generations add column parts jsonb not null default '[]';
update generations set parts = jsonb_build_array(jsonb_build_object('type', 'text', 'text', text)) where text <> '';
alter table generations drop column text;
alter table generations
  add column kind text not null default 'reply' check (kind in ('reply', 'continuation', 'retry')),
  -- Added to the number of an event: ids of events grow through a whole conversation.
  add column first_event bigint not null default 0,
  -- What usage.credits told the caller; 0 when it failed before its first word.
  add column usage_credits integer not null default 0,
  -- What became of its message: 'cut' by a later retry, or 'none' because there was nothing to keep.
  add column message_state text not null default 'none' check (message_state in ('none', 'stored', 'cut')),
  -- Which parts of its message are its own: a continuation goes on with a message that has some.
  add column parts_from integer not null default 0,
  add column parts_count integer not null default 0,
  -- Messages that a retry replaces, by their numbers; they stay until the new answer is there.
  add column cut_from integer,
  add column cut_to integer,
  -- Somebody asked for the end: 'stop' keeps what was said, 'takeover' drops it.
  add column stop_reason text check (stop_reason in ('stop', 'takeover'));
update generations set usage_credits = credits where status <> 'running' and exists (
  select from credit_entries where generation_id = generations.id and state = 'settled');

update generations set message_state = 'stored' where exists (select from messages where messages.id = message_id);

create index generations_conversation on generations (conversation_id, started_at);

alter table conversations
  add column generation_count integer not null default 0,
  add column taken_over_by uuid references members on delete set null;
update conversations set generation_count =
  (select count(*) from generations where conversation_id = conversations.id);

create index conversations_taken_over_by on conversations (taken_over_by) where taken_over_by is not null;

alter table agents add column tools_version integer not null default 0;

create table actions (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  agent_id text not null references agents on delete cascade,
  name text not null,
  type text not null check (type in ('client', 'http', 'collect-leads', 'escalate', 'web-search')),
  description text not null,
  enabled boolean not null,
  channels jsonb,
  inputs jsonb not null,
  -- The request of an http action; values of headers are encrypted.
  http jsonb,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  unique (agent_id, name)
);
create index actions_account on actions (account_id);

create table procedures (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  agent_id text not null references agents on delete cascade,
  name text not null,
  trigger text not null,
  steps jsonb not null,
  enabled boolean not null default false,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  unique (agent_id, name)
);
create index procedures_account on procedures (account_id);

create table procedure_runs (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  agent_id text not null references agents on delete cascade,
  conversation_id uuid not null references conversations on delete cascade,
  procedure_id uuid references procedures on delete set null,
  name text not null,
  status text not null check (status in ('running', 'completed', 'failed', 'abandoned')),
  started_at timestamptz(3) not null default now(),
  ended_at timestamptz(3)
);
create unique index procedure_runs_running on procedure_runs (conversation_id) where status = 'running';
create index procedure_runs_conversation on procedure_runs (conversation_id);
create index procedure_runs_agent on procedure_runs (agent_id);
create index procedure_runs_account on procedure_runs (account_id);
create index procedure_runs_procedure on procedure_runs (procedure_id);

-- Every run of an action. The id is the toolCallId of the interface.
create table tool_calls (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  agent_id text not null references agents on delete cascade,
  conversation_id uuid not null references conversations on delete cascade,
  message_id uuid not null,
  generation_id uuid not null,
  name text not null,
  type text not null,
  input jsonb not null,
  output jsonb,
  status text not null check (status in ('pending', 'success', 'error', 'ignored')),
  created_at timestamptz(3) not null default now(),
  resolved_at timestamptz(3),
  -- Only calls that wait for the calling application expire.
  expires_at timestamptz(3)
);
create index tool_calls_conversation on tool_calls (conversation_id, created_at);
create index tool_calls_waiting on tool_calls (expires_at) where status = 'pending';
create index tool_calls_agent on tool_calls (agent_id);
create index tool_calls_account on tool_calls (account_id);

create table leads (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  agent_id text not null references agents on delete cascade,
  conversation_id uuid references conversations on delete set null,
  name text,
  email text,
  phone text,
  created_at timestamptz(3) not null default now()
);
create index leads_agent on leads (agent_id, created_at desc, id desc);
create index leads_conversation on leads (conversation_id);
create index leads_account on leads (account_id);

create table tickets (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  agent_id text not null references agents on delete cascade,
  -- Counted per agent from 1, under the agent's row lock.
  number integer not null,
  subject text,
  description text,
  status_category text not null
    check (status_category in ('new', 'on_you', 'on_customer', 'on_hold', 'closed', 'cancelled')),
  assignee_id uuid references members on delete set null,
  customer jsonb not null,
  metadata jsonb not null default '{}',
  channel text not null,
  conversation_id uuid references conversations on delete set null,
  priority text not null default 'none' check (priority in ('none', 'low', 'normal', 'high', 'urgent')),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  last_message_at timestamptz(3),
  unique (agent_id, number)
);
-- A conversation has one open ticket at a time, whoever opens it.
create unique index tickets_open on tickets (conversation_id) where status_category not in ('closed', 'cancelled');
create index tickets_conversation on tickets (conversation_id);
create index tickets_account on tickets (account_id);
create index tickets_assignee on tickets (assignee_id);

create table idempotency_keys (
  account_id uuid not null references accounts on delete cascade,
  key text not null,
  -- Hash of method, path and body: the same key with another one is refused.
  fingerprint text not null,
  -- null while the first request runs; past `locked_until` its process is taken for dead.
  status integer,
  answer jsonb,
  -- Set in the transaction that starts the generation: a repeated chat attaches to it.
  generation_id uuid,
  locked_until timestamptz(3) not null,
  created_at timestamptz(3) not null default now(),
  primary key (account_id, key)
);
create index idempotency_keys_age on idempotency_keys (created_at);

-- Events of a generation for readers in other processes; written only while somebody there reads.
create unlogged table stream_frames (
  generation_id uuid not null,
  -- Number of the first frame in this piece, from 0.
  position integer not null,
  frames jsonb not null,
  created_at timestamptz(3) not null default now(),
  primary key (generation_id, position)
);
