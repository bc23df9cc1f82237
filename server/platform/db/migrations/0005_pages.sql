-- Pages of crawl and sitemap sources.
alter table sources
  -- What a crawl has to remember between its slices; null for other sources.
  add column crawl jsonb,
  -- Moves when a page is shown or hidden by hand; indexes follow it.
  add column pages_version integer not null default 0;

create table pages (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  agent_id text not null references agents on delete cascade,
  source_id uuid not null references sources on delete cascade,
  -- Order of discovery inside the source, from 1.
  number integer not null,
  url text not null,
  title text,
  status text not null check (status in ('pending', 'included', 'excluded', 'failed')),
  hidden boolean not null default false,
  error text,
  -- Bytes of training text.
  size bigint not null default 0,
  -- Crawls are numbered by the source's content_version: the last one that found the page, that dealt with it,
  -- and that changed its chunks (0: it never had any).
  found_in integer not null,
  crawled_in integer not null default 0,
  changed_in integer not null default 0,
  tries integer not null default 0,
  -- Who reads it now, and until when nobody else may.
  holder text,
  held_until timestamptz(3),
  etag text,
  last_modified text,
  content_hash text,
  -- Numbers of the pages it links to: a page that has not changed is not sent again, but its links count.
  links jsonb not null default '[]',
  fetched_at timestamptz(3),
  unique (source_id, url),
  unique (source_id, number)
);
create index pages_waiting on pages (source_id, number) where crawled_in < found_in;
create index pages_content on pages (source_id, content_hash) where content_hash is not null;
create index pages_agent on pages (agent_id);
create index pages_account on pages (account_id);

-- A chunk answers while version <= live_version of its source < retired_in: a crawl writes only what has changed
-- and becomes visible as a whole when live_version moves.
alter table chunks
  add column page_id uuid references pages on delete cascade,
  add column retired_in integer,
  add column url text,
  add column title text;
create index chunks_page on chunks (page_id, version, ordinal) where page_id is not null;
create index chunks_retired on chunks (source_id) where retired_in is not null;
