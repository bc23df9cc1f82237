-- compatible_from: 0076
create index concurrently inbound_messages_silent on inbound_messages (agent_id, created_at desc, id desc)
  where content -> 'silentBecause' is not null;
