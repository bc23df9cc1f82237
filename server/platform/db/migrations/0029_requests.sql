-- A request that was sent with an Idempotency-Key. The row is inserted in the transaction of what the request does:
-- it exists exactly if that is committed.
create table requests (
  account_id uuid not null references accounts on delete cascade,
  key text not null,
  -- Hash of method, path and body: the same key with another one is refused.
  fingerprint text not null,
  -- With the body of the answer as it was sent; null where the answer is made anew each time from what follows.
  status integer,
  answer text,
  -- The reply that the request has started.
  generation_id uuid,
  -- The message to another server that the request has begun to send.
  delivery_id uuid,
  created_at timestamptz(3) not null default now(),
  primary key (account_id, key)
);
create index requests_age on requests (created_at);
create index requests_generation on requests (generation_id) where generation_id is not null;

insert into requests (account_id, key, fingerprint, status, answer, generation_id, created_at)
  select account_id, key, fingerprint, status, answer #>> '{}', generation_id, created_at from idempotency_keys
  where status is not null or generation_id is not null;
drop table idempotency_keys;

drop index deliveries_request;
update deliveries set content = content #- '{template,requestKey}' where content #> '{template,requestKey}' is not null;
