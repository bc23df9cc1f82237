-- What an agent was told to do, as it was after each change, the newest fifty.
create table instruction_versions (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  agent_id text not null,
  instructions text not null,
  channel_instructions jsonb,
  model text not null,
  temp double precision not null,
  -- Who made it so, as in the audit log; null: it was so before versions were kept.
  actor text,
  created_at timestamptz(3) not null default clock_timestamp()
);
create index instruction_versions_agent on instruction_versions (agent_id, created_at desc, id desc);
create index instruction_versions_account on instruction_versions (account_id);
