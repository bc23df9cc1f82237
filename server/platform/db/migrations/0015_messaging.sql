-- Business accounts of the messaging channel that an agent is connected to. Secrets are encrypted texts.
create table messaging_accounts (
  agent_id text not null references agents on delete cascade,
  business_account_id text not null,
  account_id uuid not null references accounts on delete cascade,
  access_token text not null,
  app_secret text not null,
  verify_token text not null,
  -- null: the channel's public address.
  base_url text,
  -- As they were given.
  position integer not null,
  -- [{id, phone, verifiedName}] as the channel told them last; null: it was never asked.
  numbers jsonb,
  numbers_read_at timestamptz(3),
  updated_at timestamptz(3) not null default now(),
  primary key (agent_id, business_account_id)
);
create index messaging_accounts_account on messaging_accounts (account_id);

-- A delivery may be several messages of the channel: a long text is cut, files go one by one. A row here is one that
-- the channel has taken; what has none was not sent, as far as is known.
create table messaging_pieces (
  delivery_id uuid not null references deliveries on delete cascade,
  ordinal integer not null,
  account_id uuid not null references accounts on delete cascade,
  agent_id text not null references agents on delete cascade,
  provider_message_id text not null,
  status text not null check (status in ('failed', 'sent', 'delivered', 'read')),
  primary key (delivery_id, ordinal)
);
create index messaging_pieces_provider on messaging_pieces (agent_id, provider_message_id);
create index messaging_pieces_account on messaging_pieces (account_id);

-- A template that is sent again under its Idempotency-Key after the process died is found by this.
create index deliveries_request on deliveries (agent_id, (content #>> '{template,requestKey}'))
  where content #>> '{template,requestKey}' is not null;
