-- compatible_from: 0076
-- What language models wrote beside answers, by its purpose. Processes of before this count answers in model_usage by
-- its key, which therefore stays as it is.
create table model_side_usage (
  account_id uuid not null references accounts (id) on delete cascade,
  day date not null,
  agent_id text not null,
  model text not null,
  purpose text not null,
  calls bigint not null,
  input_tokens bigint not null,
  cached_tokens bigint not null,
  output_tokens bigint not null,
  reasoning_tokens bigint not null,
  dollars double precision,
  unpriced_calls bigint not null,
  primary key (account_id, day, agent_id, model, purpose)
);
