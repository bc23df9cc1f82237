-- compatible_from: 0076
create unique index concurrently sources_live_external_id on sources (agent_id, external_id) where external_id is not null and not left_out;
