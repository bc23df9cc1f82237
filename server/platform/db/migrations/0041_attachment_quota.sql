-- Who has sent a file from outside: the hash of a mail address, or a thread of messaging. null: it was uploaded with a key.
alter table attachments add column sender text;

-- What came from outside in the last day, and uploads that nothing has taken, are summed up before another is kept.
create index attachments_received on attachments (agent_id, created_at) where sender is not null;
create index attachments_waiting on attachments (account_id)
  where sender is null and ticket_id is null and conversation_id is null;
