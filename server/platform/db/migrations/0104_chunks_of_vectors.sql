-- compatible_from: 0076
create index concurrently chunks_vector_key on chunks (source_id, vector_key);
