-- compatible_from: 0076
-- What a channel calls a person: a phone number, an id of its own. Rows with the same person are one person by what the
-- channel itself has said; a contact that was merged by hand may have several.
create table contact_identities (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  agent_id text not null references agent_ids on delete cascade,
  contact_id uuid not null references contacts on delete cascade,
  person uuid not null,
  channel text not null check (channel in ('messaging')),
  kind text not null check (kind in ('phone', 'user', 'parent_user')),
  value text not null,
  -- The business account that was told; ids of the channel may be different for another one.
  scope text not null,
  username text,
  -- The channel's id of the event that said so.
  stated_by text not null,
  created_at timestamptz(3) not null default now(),
  -- When the channel said that it no longer belongs to the person.
  replaced_at timestamptz(3)
);
create unique index contact_identities_current on contact_identities (agent_id, channel, value) where replaced_at is null;
create index contact_identities_contact on contact_identities (contact_id);
create index contact_identities_person on contact_identities (person);
create index contact_identities_agent on contact_identities (agent_id);
create index contact_identities_account on contact_identities (account_id);

-- Two contacts that the channel has said to be one, with what is needed to part them again.
create table contact_joins (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  agent_id text not null references agent_ids on delete cascade,
  contact_id uuid not null references contacts on delete cascade,
  -- The one that is gone, as it was, and the fields of the one that stays, as they were.
  joined_contact_id uuid not null,
  joined jsonb not null,
  kept jsonb not null,
  -- Ids of identities, threads, conversations and tickets that were moved.
  moved jsonb not null,
  stated_by text not null,
  created_at timestamptz(3) not null default now(),
  -- Parted by a person: what the channel says later does not join them again.
  undone_at timestamptz(3)
);
create index contact_joins_contact on contact_joins (contact_id);
create index contact_joins_agent on contact_joins (agent_id);
create index contact_joins_account on contact_joins (account_id);
