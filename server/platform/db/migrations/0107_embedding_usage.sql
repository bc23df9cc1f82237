-- compatible_from: 0076
-- What was sent to embedding models, by day (UTC). It outlives agents, as the ledger of credits does.
create table embedding_usage (
  account_id uuid not null references accounts (id) on delete cascade,
  day date not null,
  agent_id text not null,
  model text not null,
  kind text not null check (kind in ('passages', 'questions')),
  texts bigint not null,
  tokens bigint not null,
  -- How many of the tokens are estimated.
  estimated bigint not null,
  -- null: the price is not known.
  dollars double precision,
  primary key (account_id, day, agent_id, model, kind)
);
