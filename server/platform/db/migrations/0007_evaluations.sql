-- The answer (a message) that a question-and-answer source corrects. Not a reference: knowledge outlives conversations.
alter table sources add column message_id uuid;
create unique index sources_correction on sources (agent_id, message_id) where message_id is not null;

-- Questions that an agent's retrieval is measured with. With neither expectation, the question has no answer.
create table evaluations (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  agent_id text not null references agents on delete cascade,
  question text not null,
  -- Not a reference: a deleted source is a question that fails, not one without an answer.
  expected_source_id uuid,
  expected_answer text,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create index evaluations_agent on evaluations (agent_id, id);
create index evaluations_account on evaluations (account_id);
