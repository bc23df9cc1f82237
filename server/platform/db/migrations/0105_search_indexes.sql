-- compatible_from: 0076
create index concurrently sources_without_words on sources (agent_id)
  where live_version is not null and words_version is distinct from live_version;
create index concurrently pages_hidden on pages (agent_id) where hidden;
