-- compatible_from: 0076
-- What language models answered, by day (UTC). It outlives agents and conversations, as the ledger of credits does.
create table model_usage (
  account_id uuid not null references accounts (id) on delete cascade,
  day date not null,
  agent_id text not null,
  model text not null,
  calls bigint not null,
  input_tokens bigint not null,
  -- Those of the input that came from the provider's cache, and those of the output that were reasoning.
  cached_tokens bigint not null,
  output_tokens bigint not null,
  reasoning_tokens bigint not null,
  -- null: the price is not known.
  dollars double precision,
  primary key (account_id, day, agent_id, model)
);
