-- compatible_from: 0076
create index concurrently tickets_wake on tickets (wakes_at) where wakes_at is not null;
create index concurrently tickets_of_account_by_update on tickets (account_id, updated_at, id);
create index concurrently tickets_of_account_by_creation on tickets (account_id, created_at, id);
create index concurrently tickets_of_account_by_message on tickets
  (account_id, (coalesce(last_message_at, timestamptz '1970-01-01 00:00:00+00')), id);
create index concurrently tickets_of_account_by_waiting on tickets
  (account_id, (coalesce(waiting_since, timestamptz '9999-12-31 00:00:00+00')), id);
create index concurrently tickets_of_account_by_target on tickets
  (account_id, (coalesce(due_at, timestamptz '9999-12-31 00:00:00+00')), id);
create index concurrently ticket_messages_of_agent_by_time on ticket_messages (agent_id, created_at, id);
