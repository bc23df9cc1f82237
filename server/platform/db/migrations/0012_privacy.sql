alter table agents
  -- Days after its last activity until a conversation is deleted; null: never.
  add column retention_days integer check (retention_days between 1 and 3650);

-- The erasing of an end user; what it was about is forgotten with the last row.
create table user_erasures (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  status text not null check (status in ('running', 'finished')),
  -- The names that the person is found by; null once it is finished.
  person jsonb,
  -- How many rows went.
  conversations integer not null default 0,
  messages integer not null default 0,
  leads integer not null default 0,
  tickets integer not null default 0,
  contacts integer not null default 0,
  created_at timestamptz(3) not null default now(),
  -- When the last batch was done.
  touched_at timestamptz(3) not null default now(),
  finished_at timestamptz(3),
  check ((status = 'finished') = (person is null))
);
create index user_erasures_account on user_erasures (account_id);
create index user_erasures_running on user_erasures (touched_at) where status = 'running';

-- By these a person's rows are found without reading those of everybody.
create index leads_email on leads (account_id, lower(email)) where email is not null;
create index leads_phone on leads (account_id, phone) where phone is not null;
create index tickets_by_customer_id on tickets (account_id, (customer ->> 'id')) where customer ->> 'id' is not null;
create index tickets_by_customer_email on tickets (account_id, lower(customer ->> 'email'))
  where customer ->> 'email' is not null;
create index tickets_by_customer_phone on tickets (account_id, (customer ->> 'phoneNumber'))
  where customer ->> 'phoneNumber' is not null;
create index conversations_parent on conversations (parent_conversation_id) where parent_conversation_id is not null;
create index sources_conversation on sources ((metadata ->> 'conversationId')) where message_id is not null;
