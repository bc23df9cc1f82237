-- The key that an owner's site signs the identity of its visitors with; an encrypted text.
create table identity_secrets (
  agent_id text primary key,
  account_id uuid not null references accounts on delete cascade,
  secret text not null,
  created_at timestamptz(3) not null default now()
);
create index identity_secrets_account on identity_secrets (account_id);

-- Visitors whom the site has signed in, one row for each token: a token belongs to the first visitor who brings it.
create table visitor_identities (
  agent_id text not null,
  account_id uuid not null references accounts on delete cascade,
  -- SHA-256.
  token_hash text not null,
  -- As conversations.user_id before the visitor was signed in.
  visitor_id text not null,
  contact_id uuid not null references contacts on delete cascade,
  -- The visitor counts as signed in until then.
  valid_until timestamptz(3) not null,
  -- Kept at least until then, so that nobody else can bring the token.
  token_until timestamptz(3) not null,
  created_at timestamptz(3) not null default clock_timestamp(),
  primary key (agent_id, token_hash)
);
create index visitor_identities_visitor on visitor_identities (agent_id, visitor_id, created_at desc);
create index visitor_identities_contact on visitor_identities (contact_id);
create index visitor_identities_account on visitor_identities (account_id);
