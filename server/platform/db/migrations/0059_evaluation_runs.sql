create table evaluation_sets (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  agent_id text not null references agent_ids on delete cascade,
  name text not null,
  created_at timestamptz(3) not null default now(),
  constraint evaluation_sets_name unique (agent_id, name)
);
create index evaluation_sets_account on evaluation_sets (account_id);

-- Null: a question that is in no set.
alter table evaluations add column set_id uuid references evaluation_sets on delete set null;
create index evaluations_set on evaluations (set_id);

-- What a run found, as it was then: questions change, and sources go.
create table evaluation_runs (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  agent_id text not null references agent_ids on delete cascade,
  -- Not a reference: the run stays when its set is deleted.
  set_id uuid,
  set_name text,
  note text not null,
  figures jsonb not null,
  results jsonb not null,
  created_at timestamptz(3) not null default now()
);
create index evaluation_runs_list on evaluation_runs (agent_id, created_at desc, id desc);
create index evaluation_runs_account on evaluation_runs (account_id);
