-- What a member may do, and with which agents; null: with every agent.
alter table members add column role text not null default 'support'
  check (role in ('owner', 'admin', 'builder', 'support', 'viewer'));
alter table members add column agent_ids jsonb;

-- How a member signs in: one login a member, and an address has one login in the whole installation.
create table logins (
  id uuid primary key,
  member_id uuid not null unique references members on delete cascade,
  name text not null,
  -- In lower case.
  email text not null unique,
  email_verified boolean not null default false,
  image text,
  two_factor_enabled boolean not null default false,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);

create table login_sessions (
  id uuid primary key,
  login_id uuid not null references logins on delete cascade,
  -- A cookie holds it with a signature, so that the row alone lets nobody in.
  token text not null unique,
  ip_address text,
  user_agent text,
  expires_at timestamptz(3) not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create index login_sessions_login on login_sessions (login_id);
create index login_sessions_expiry on login_sessions (expires_at);

-- A password (as scrypt has hashed it), or who a provider says that the login is.
create table login_credentials (
  id uuid primary key,
  login_id uuid not null references logins on delete cascade,
  provider_id text not null,
  subject text not null,
  password text,
  access_token text,
  refresh_token text,
  id_token text,
  access_token_expires_at timestamptz(3),
  refresh_token_expires_at timestamptz(3),
  scope text,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  unique (provider_id, subject)
);
create index login_credentials_login on login_credentials (login_id);

create table login_second_factors (
  id uuid primary key,
  login_id uuid not null unique references logins on delete cascade,
  -- Both encrypted with what stands in login_secrets.
  secret text not null,
  backup_codes text not null,
  verified boolean default true,
  failed_verification_count integer default 0,
  locked_until timestamptz(3)
);

-- What a sign-in that is under way has to remember for some minutes.
create table login_challenges (
  id uuid primary key,
  identifier text not null,
  value text not null,
  expires_at timestamptz(3) not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create index login_challenges_identifier on login_challenges (identifier);
create index login_challenges_expiry on login_challenges (expires_at);

-- The key that signs cookies; an encrypted text.
create table login_secrets (
  name text primary key,
  secret text not null,
  created_at timestamptz(3) not null default now()
);

-- Links that work once: to set up an account's first owner, to accept an invitation, to choose a new password.
create table login_links (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  kind text not null check (kind in ('set-up', 'invitation', 'reset')),
  -- SHA-256 of 256 random bits.
  token_hash text not null unique,
  -- Of an invitation.
  email text,
  name text,
  role text check (role in ('owner', 'admin', 'builder', 'support', 'viewer')),
  agent_ids jsonb,
  -- Of a reset.
  member_id uuid references members on delete cascade,
  created_by text not null,
  expires_at timestamptz(3) not null,
  created_at timestamptz(3) not null default now(),
  check (kind <> 'invitation' or (email is not null and role is not null)),
  check (kind <> 'reset' or member_id is not null)
);
create index login_links_account on login_links (account_id, kind, created_at desc, id desc);
create index login_links_member on login_links (member_id);
create unique index login_links_invited on login_links (account_id, lower(email)) where kind = 'invitation';
