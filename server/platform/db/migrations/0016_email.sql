-- The mailbox of an agent. Passwords, the secret and the key are encrypted texts.
create table email_connections (
  agent_id text primary key references agents on delete cascade,
  account_id uuid not null references accounts on delete cascade,
  -- In lower case.
  address text not null,
  from_name text,
  mode text not null check (mode in ('agent', 'tickets')),
  -- The mailbox takes what is written to name+anything@ as well.
  plus_addressing boolean not null,
  -- {host, port, security, username}; imap has its mailbox, too.
  smtp jsonb not null,
  smtp_password text,
  imap jsonb,
  imap_password text,
  inbound_secret text,
  -- Signs the marks by which answers find their thread; lives as long as the connection.
  mark_key text not null,
  smtp_error text,
  smtp_checked_at timestamptz(3),
  imap_error text,
  imap_checked_at timestamptz(3),
  -- What came before is not read.
  reads_from timestamptz(3) not null default now(),
  uid_validity bigint,
  last_uid bigint,
  next_read_at timestamptz(3) not null default now(),
  read_failures integer not null default 0,
  -- The process that reads the mailbox now.
  lease_id uuid,
  lease_until timestamptz(3),
  updated_at timestamptz(3) not null default now()
);
create index email_connections_account on email_connections (account_id);
create index email_connections_due on email_connections (next_read_at) where imap is not null;

-- Every mail that came, once, and what other servers named the mails that were sent: so answers find their thread.
create table email_messages (
  agent_id text not null references agents on delete cascade,
  message_id text not null,
  -- Of a mail that came: some programs give every mail the same Message-ID. Empty for what was sent.
  body_hash text not null,
  account_id uuid not null references accounts on delete cascade,
  -- null: a copy of what was sent.
  thread_id uuid references channel_threads on delete cascade,
  created_at timestamptz(3) not null default now(),
  primary key (agent_id, message_id, body_hash)
);
create index email_messages_account on email_messages (account_id);
create index email_messages_thread on email_messages (thread_id) where thread_id is not null;
