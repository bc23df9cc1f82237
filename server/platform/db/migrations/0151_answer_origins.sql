-- compatible_from: 0076
-- The conversation that a case was made of: the case goes with it, and so do its copies in runs.
alter table answer_cases add column conversation_id uuid references conversations on delete cascade;

create table answer_origins (
  run_id uuid not null references answer_runs on delete cascade,
  -- The place of the case in the run.
  place integer not null,
  account_id uuid not null references accounts on delete cascade,
  conversation_id uuid not null references conversations on delete cascade,
  primary key (run_id, place)
);
create index answer_origins_conversation on answer_origins (conversation_id);
create index answer_origins_account on answer_origins (account_id);
