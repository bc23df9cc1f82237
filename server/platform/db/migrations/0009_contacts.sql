-- People that an agent talks with, as the customer's own program knows them.
create table contacts (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  agent_id text not null references agents on delete cascade,
  -- The program's own name for the person.
  external_id text not null,
  name text,
  email text,
  -- E.164 where the number could be read, else as it was given.
  phonenumber text,
  custom_attributes jsonb not null default '{}',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint contacts_external_id unique (agent_id, external_id)
);
create index contacts_created on contacts (agent_id, created_at desc, id desc);
create index contacts_phonenumber on contacts (agent_id, phonenumber) where phonenumber is not null;
create index contacts_email on contacts (agent_id, lower(email)) where email is not null;
create index contacts_account on contacts (account_id);

-- What contacts of an agent may carry besides; the type of one never changes.
create table custom_attributes (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  agent_id text not null references agents on delete cascade,
  name text not null,
  type text not null check (type in ('text', 'number', 'boolean', 'date')),
  label text not null,
  description text not null,
  -- Values stay readable and can only be taken away.
  archived boolean not null default false,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint custom_attributes_name unique (agent_id, name)
);
create index custom_attributes_account on custom_attributes (account_id);

-- Made anew from what was uploaded: square PNGs of a few kilobytes, so they lie here and not among the files.
create table agent_pictures (
  agent_id text not null references agents on delete cascade,
  kind text not null check (kind in ('icon', 'profile')),
  account_id uuid not null references accounts on delete cascade,
  bytes bytea not null,
  -- Hash of the bytes, for caches.
  tag text not null,
  primary key (agent_id, kind)
);
create index agent_pictures_account on agent_pictures (account_id);

alter table agents add column updated_at timestamptz(3) not null default now();
update agents set updated_at = created_at;

-- The caller's own name for it, under which it is found and replaced.
alter table sources add column external_id text;
create unique index sources_external_id on sources (agent_id, external_id) where external_id is not null;

alter table conversations
  -- The caller's own name for it.
  add column external_id text,
  add column contact_id uuid references contacts on delete set null,
  -- Exists only while its one reply is being made; no list shows it.
  add column transient boolean not null default false;
create unique index conversations_external_id on conversations (agent_id, external_id) where external_id is not null;
create index conversations_contact on conversations (contact_id) where contact_id is not null;
