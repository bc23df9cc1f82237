create table agents (
  id text primary key,
  account_id uuid not null references accounts on delete cascade,
  name text not null,
  instructions text not null,
  channel_instructions jsonb,
  model text not null,
  auto_retrain boolean not null default false,
  temp double precision not null,
  visibility text not null,
  allowed_domains jsonb,
  suggested_messages jsonb,
  initial_messages jsonb not null,
  credit_limit integer,
  notifications_settings jsonb,
  ip_rate_limits jsonb not null,
  spam_settings jsonb,
  blocked_countries jsonb,
  voice_settings jsonb,
  styles jsonb not null,
  -- Moves in the transaction that changes what the agent may answer from; in-memory indexes follow it.
  knowledge_version bigint not null default 0,
  last_trained_at timestamptz(3),
  created_at timestamptz(3) not null default now()
);
create index agents_list on agents (account_id, created_at desc, id desc);

create table sources (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  agent_id text not null references agents on delete cascade,
  type text not null check (type in ('text', 'qna', 'link', 'file', 'notionPage', 'ticket')),
  name text,
  status text not null check (status in ('untrained', 'trained', 'updated', 'failed')),
  error text,
  size bigint not null default 0,
  metadata jsonb,
  -- What the customer gave: {text} | {questions, answer} | {url} | {filename, mediaType, file}.
  content jsonb not null,
  link_type text,
  url text,
  -- A change raises content_version; chunks of live_version answer until those of the new one are in.
  content_version integer not null default 1,
  live_version integer,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create index sources_list on sources (agent_id, created_at desc, id desc);
create unique index sources_link on sources (agent_id, link_type, url) where type = 'link';
create index sources_account on sources (account_id);
create index sources_processing on sources (status) where status in ('untrained', 'updated');

create table chunks (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  agent_id text not null references agents on delete cascade,
  source_id uuid not null references sources on delete cascade,
  version integer not null,
  ordinal integer not null,
  heading_path jsonb not null,
  page integer,
  text text not null,
  questions jsonb,
  -- Little-endian float32, made by the embedding provider that vector_space names.
  vector bytea,
  vector_space text
);
create index chunks_source on chunks (source_id, version, ordinal);
create index chunks_agent on chunks (agent_id);
create index chunks_account on chunks (account_id);
