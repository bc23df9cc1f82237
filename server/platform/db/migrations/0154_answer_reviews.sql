-- compatible_from: 0076
-- What people say about the judgements of a run, and why a run was stopped.
create table answer_reviews (
  run_id uuid not null,
  place integer not null,
  repetition integer not null,
  -- faithful, means, sounds, answer, or claim- and the place of the claim.
  judgement text not null,
  account_id uuid not null references accounts on delete cascade,
  agrees boolean not null,
  note text not null,
  reviewer text not null,
  created_at timestamptz(3) not null default now(),
  primary key (run_id, place, repetition, judgement),
  foreign key (run_id, place, repetition) references answer_results on delete cascade
);
create index answer_reviews_account on answer_reviews (account_id);

alter table answer_runs add column problem text;
