-- Runs of the playground are answers that nobody pays for: their entries keep the ledger whole, and no figure counts them.
alter table credit_entries drop constraint credit_entries_kind_check, drop constraint credit_entries_check;
alter table credit_entries
  add constraint credit_entries_kind_check check (kind in ('usage', 'grant', 'trial')),
  add constraint credit_entries_check check ((kind = 'grant') = (generation_id is null));

-- They are no conversations of customers, so nothing is learned from them.
create function playground_not_analysed() returns trigger language plpgsql as $$
begin
  new.analysis_due := null;
  return new;
end $$;
-- Triggers run in the order of their names, and this one has the last word.
create trigger playground_not_analysed
  before insert or update of last_seq, cut_messages, generation_count, status, source, analysis_due
  on conversations for each row
  when (new.source = 'Playground') execute function playground_not_analysed();

-- What an answer of the playground was made of.
create table playground_runs (
  message_id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  agent_id text not null,
  conversation_id uuid not null references conversations on delete cascade,
  made_of jsonb not null,
  created_at timestamptz(3) not null default now()
);
create index playground_runs_conversation on playground_runs (conversation_id);
create index playground_runs_agent on playground_runs (agent_id);
create index playground_runs_account on playground_runs (account_id);
