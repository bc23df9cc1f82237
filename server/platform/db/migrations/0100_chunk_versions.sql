-- compatible_from: 0076
-- A chunk of any source is used from `version` until `retired_in`, so that training keeps unchanged chunks. Chunks of
-- single sources that an interrupted training left would come back.
delete from chunks using sources
where sources.id = chunks.source_id and chunks.page_id is null and chunks.version < sources.live_version;
alter table sources
  -- The live version whose words are all in chunk_words. While it is another, they are still being written.
  add column words_version integer,
  -- The number of its live chunks, and their languages, most frequent first.
  add column chunk_count integer not null default 0,
  add column languages text[] not null default '{}';
-- The terms of chunk_words are hashed with it. A clone has that of its original, whose rows it copies.
alter table agents add column terms_salt uuid not null default gen_random_uuid();
