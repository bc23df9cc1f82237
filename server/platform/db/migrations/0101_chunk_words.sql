-- compatible_from: 0076
-- What a chunk is found by: see knowledge/search/find-by-words.ts. The text stays in chunks, so that a scan reads little.
create table chunk_words (
  agent_id text not null,
  account_id uuid not null,
  chunk_id uuid not null,
  source_id uuid not null,
  page_id uuid,
  version integer not null,
  retired_in integer,
  vector_key text not null,
  language text not null,
  -- Hashes of the agent and a stem, each once.
  terms bigint[] not null,
  primary key (agent_id, chunk_id),
  foreign key (agent_id, chunk_id) references chunks (agent_id, id) on delete cascade
) partition by hash (agent_id);

do $$
begin
  for part in 0..7 loop
    execute format('create table chunk_words_%s partition of chunk_words for values with (modulus 8, remainder %s)', part, part);
    execute format('alter table chunk_words_%s set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05)', part);
    execute format('create index chunk_words_%s_terms on chunk_words_%s using gin (terms) with (fastupdate = off)', part, part);
  end loop;
end $$;
