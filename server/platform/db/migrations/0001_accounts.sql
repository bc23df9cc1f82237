-- Times are kept to the millisecond everywhere: a JavaScript Date then holds exactly what the database holds,
-- and a cursor made from one loses nothing.

create table accounts (
  id uuid primary key,
  name text not null,
  plan text not null,
  created_at timestamptz(3) not null default now()
);

create table members (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  email text not null,
  name text not null,
  created_at timestamptz(3) not null default now()
);
create unique index members_email on members (account_id, lower(email));

create table api_keys (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  name text not null,
  prefix text not null,
  secret_hash text not null unique,
  scopes jsonb,
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  last_used_at timestamptz(3),
  created_at timestamptz(3) not null default now()
);
create index api_keys_account on api_keys (account_id, created_at);

-- One entry per generation (reserved, then settled or released) or grant.
create table credit_entries (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  agent_id text,
  generation_id uuid unique,
  kind text not null check (kind in ('usage', 'grant')),
  state text not null check (state in ('reserved', 'settled', 'released')),
  amount integer not null check (amount >= 0),
  month text not null,
  created_at timestamptz(3) not null default now(),
  check ((kind = 'usage') = (generation_id is not null))
);
create index credit_entries_account on credit_entries (account_id, month);

-- Months are UTC, written 'YYYY-MM'.
-- What an account (its id) or an agent (its id) has reserved or settled in a month; always the sum of the
-- entries, kept so that a limit is one row's compare-and-set.
create table credit_usage (
  account_id uuid not null references accounts on delete cascade,
  owner_id text not null,
  month text not null,
  used integer not null,
  primary key (owner_id, month)
);
create index credit_usage_account on credit_usage (account_id);

-- Switches of the whole installation.
create table settings (
  name text primary key,
  value jsonb not null,
  updated_at timestamptz(3) not null default now()
);

create table audit_log (
  id uuid primary key,
  account_id uuid references accounts on delete cascade,
  actor text not null,
  action text not null,
  target text,
  created_at timestamptz(3) not null default now()
);
create index audit_log_account on audit_log (account_id, created_at);
