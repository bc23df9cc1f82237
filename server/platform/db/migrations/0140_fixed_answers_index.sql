-- compatible_from: 0076
create index concurrently sources_fixed on sources (agent_id) where fixed_keys is not null;
