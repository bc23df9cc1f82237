-- compatible_from: 0076
-- What an agent is to become, and what it was: versions name sources by their ids, so those that only a draft or an
-- earlier version has are kept, and left out of live answers.
alter table sources add column left_out boolean not null default false;

create table agent_drafts (
  agent_id text primary key references agent_ids,
  account_id uuid not null references accounts on delete cascade,
  -- The live version when the draft was begun, and what the draft changes of the live one.
  base jsonb not null,
  changes jsonb not null,
  actor text not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create index agent_drafts_account on agent_drafts (account_id);

create table agent_versions (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  agent_id text not null references agent_ids,
  kind text not null check (kind in ('published', 'restored', 'found')),
  snapshot jsonb not null,
  changed text[] not null,
  actor text,
  created_at timestamptz(3) not null default now()
);
create index agent_versions_agent on agent_versions (agent_id, created_at desc, id desc);
create index agent_versions_account on agent_versions (account_id);

-- The version that is tested, as it was when the run began.
alter table answer_runs add column snapshot jsonb;
