-- Vectors stand beside the chunks, by what was embedded: a text that comes back, in a later version of its source
-- or after a crash, is not embedded a second time, and two embedding spaces can exist at once.
create table chunk_vectors (
  source_id uuid not null references sources on delete cascade,
  space text not null,
  -- Hash of the text that was embedded; chunks carry it.
  vector_key text not null,
  account_id uuid not null,
  agent_id text not null,
  -- Little-endian float32.
  vector bytea not null,
  primary key (source_id, space, vector_key)
);
-- Vectors do not compress: this saves the attempt.
alter table chunk_vectors alter column vector set storage external;
create index chunk_vectors_agent on chunk_vectors (agent_id, space);

alter table chunks add column vector_key text;
update chunks set vector_key = left(encode(sha256(convert_to(
  coalesce((select string_agg(part, E'\n' order by place) || E'\n'
    from jsonb_array_elements_text(heading_path) with ordinality as parts (part, place)), '') ||
  coalesce((select string_agg(part, E'\n' order by place) || E'\n'
    from jsonb_array_elements_text(case when jsonb_typeof(questions) = 'array' then questions else '[]' end)
      with ordinality as parts (part, place)), '') ||
  text, 'UTF8')), 'hex'), 32);
alter table chunks alter column vector_key set not null;

insert into chunk_vectors (source_id, space, vector_key, account_id, agent_id, vector)
select distinct on (source_id, vector_space, vector_key)
  source_id, vector_space, vector_key, account_id, agent_id, vector
from chunks
where vector is not null and vector_space is not null;

alter table agents
  -- The space whose vectors answer; null: none, the built-in word vectors do.
  add column vector_space text,
  -- Who builds another space holds this; one that died lets go by itself.
  add column vectors_held_until timestamptz(3);
update agents set vector_space = (
  select space from chunk_vectors where agent_id = agents.id group by space order by count(*) desc limit 1);

alter table chunks drop column vector, drop column vector_space;
-- In the order in which chunks are looked at for a space that is being built.
drop index chunks_agent;
create index chunks_agent on chunks (agent_id, id);
