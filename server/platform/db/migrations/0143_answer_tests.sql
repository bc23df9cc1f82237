-- compatible_from: 0076
-- Conversations that an agent is tested with, and what became of them in a run.
create table answer_cases (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  agent_id text not null references agent_ids,
  name text not null,
  content jsonb not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create index answer_cases_agent on answer_cases (agent_id, created_at, id);
create index answer_cases_account on answer_cases (account_id);

create table answer_runs (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  agent_id text not null references agent_ids,
  status text not null check (status in ('running', 'finished', 'canceled', 'stopped')),
  -- What the run was asked for, with its cases as they were then.
  settings jsonb not null,
  cases jsonb not null,
  created_at timestamptz(3) not null default now(),
  finished_at timestamptz(3)
);
create index answer_runs_agent on answer_runs (agent_id, created_at desc, id desc);
create index answer_runs_account on answer_runs (account_id);

create table answer_results (
  run_id uuid not null references answer_runs on delete cascade,
  -- The place of the case in the run, and which of its repetitions it is.
  place integer not null,
  repetition integer not null,
  account_id uuid not null references accounts on delete cascade,
  result jsonb not null,
  primary key (run_id, place, repetition)
);
create index answer_results_account on answer_results (account_id);
