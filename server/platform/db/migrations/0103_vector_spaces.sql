-- compatible_from: 0076
-- The embedding spaces whose vectors are stored. Each has a table vectors_<id>, which is made with the first vector and
-- only where the extension vector is there: see knowledge/vectors/spaces.ts. agents.vector_space names the one in use.
create table vector_spaces (
  id integer generated always as identity primary key,
  -- As the embedder names it: model, server and size.
  name text not null unique,
  dimensions integer not null,
  -- The similarity from which a passage counts as evidence, and the number of vectors it was sampled from at most.
  near_from real,
  sampled integer not null default 0,
  -- An operator has stopped its filling.
  stopped boolean not null default false,
  -- Since when no agent uses it.
  unused_since timestamptz(3),
  created_at timestamptz(3) not null default now()
);
