-- compatible_from: 0076
-- The HTML of received mails as it came, for the eyes of the team.
create table mail_originals (
  inbound_message_id uuid primary key references inbound_messages on delete cascade,
  account_id uuid not null references accounts on delete cascade,
  agent_id text not null references agent_ids on delete cascade,
  html text not null,
  -- The attachments that it shows, by the Content-ID of the mail.
  pictures jsonb not null,
  created_at timestamptz(3) not null default now()
);
create index mail_originals_agent on mail_originals (agent_id);
create index mail_originals_account on mail_originals (account_id);

alter table tickets add column spam_at timestamptz(3);

-- Addresses and domains whose mails are stored silently and never answered.
create table blocked_senders (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  agent_id text not null references agent_ids on delete cascade,
  -- An address, or a domain with the addresses below it.
  sender text not null,
  created_at timestamptz(3) not null default now(),
  constraint blocked_senders_once unique (agent_id, sender)
);
create index blocked_senders_account on blocked_senders (account_id);
