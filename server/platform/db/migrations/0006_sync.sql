alter table sources
  -- When its origin is looked at again; null: not planned. Whoever takes a due one moves this on first, so that
  -- of several processes one does it, and one that dies leaves it to be taken again.
  add column next_sync_at timestamptz(3),
  -- What the origin said of the live version, and a hash of its chunks: by them a change is seen.
  add column origin_etag text,
  add column origin_modified text,
  add column content_hash text;
create index sources_due on sources (next_sync_at) where next_sync_at is not null;
create index sources_failed on sources (next_sync_at) where status = 'failed' and next_sync_at is not null;
create index sources_unplanned on sources (agent_id) where next_sync_at is null and type in ('link', 'notionPage');
create unique index sources_page on sources (agent_id, (content ->> 'pageId')) where type = 'notionPage';
create unique index sources_ticket on sources (agent_id, (content ->> 'ticketId')) where type = 'ticket';

create table pages_connections (
  agent_id text primary key references agents on delete cascade,
  account_id uuid not null references accounts on delete cascade,
  -- Encrypted.
  access_token text not null,
  -- null: the service's public address.
  base_url text,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create index pages_connections_account on pages_connections (account_id);

alter table agents
  add column ticket_knowledge boolean not null default false,
  add column next_ticket_sync_at timestamptz(3);
create index agents_auto_retrain on agents (id) where auto_retrain;
create index agents_ticket_sync_due on agents (next_ticket_sync_at) where next_ticket_sync_at is not null;

-- Somebody deleted the source made from it: it must not come back.
alter table tickets add column knowledge_excluded boolean not null default false;
