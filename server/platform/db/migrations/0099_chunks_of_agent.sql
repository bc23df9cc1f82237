-- compatible_from: 0076
create unique index concurrently chunks_of_agent on chunks (agent_id, id);
