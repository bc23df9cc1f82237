-- compatible_from: 0076
-- When the answers of an agent are tested, and what people are told of the last test.
create table answer_schedules (
  agent_id text primary key references agent_ids,
  account_id uuid not null references accounts on delete cascade,
  settings jsonb not null,
  next_at timestamptz(3) not null,
  last_run_id uuid,
  alert text,
  -- Whether people were told of the alert by mail.
  is_told boolean not null default true,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  check (is_told or alert is not null)
);
create index answer_schedules_account on answer_schedules (account_id);
create index answer_schedules_due on answer_schedules (next_at);
create index answer_schedules_untold on answer_schedules (agent_id) where not is_told;
