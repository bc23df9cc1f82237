-- compatible_from: 0076
-- What the owner has chosen about passages. vector_key names their text and headings, which a later training keeps.
create table passage_choices (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  agent_id text not null references agent_ids on delete cascade,
  source_id uuid not null references sources on delete cascade,
  vector_key text not null,
  -- Pinned for questions with the words of this one; null: excluded.
  question text,
  created_at timestamptz(3) not null default now()
);
create unique index passage_choices_once on passage_choices (source_id, vector_key, coalesce(question, ''));
create index passage_choices_agent on passage_choices (agent_id);
create index passage_choices_account on passage_choices (account_id);
