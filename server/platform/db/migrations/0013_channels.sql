-- One person's talk over one connection of a channel: a phone number with a number of ours, a thread of mails. Its row
-- is locked by whatever takes messages in or gives it a conversation, so that one thread has one open conversation.
create table channel_threads (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  agent_id text not null references agents on delete cascade,
  channel text not null check (channel in ('messaging', 'email')),
  -- Our side: the id of a number, the address of a mailbox.
  connection text not null,
  -- Their side: a phone number (E.164), or what tells one thread of mails from another.
  peer text not null,
  contact_id uuid references contacts on delete set null,
  -- What the channel keeps for itself.
  data jsonb not null default '{}',
  last_inbound_at timestamptz(3),
  -- The person has asked for nothing more.
  opted_out_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  unique (agent_id, channel, connection, peer)
);
create index channel_threads_account on channel_threads (account_id);
create index channel_threads_contact on channel_threads (contact_id) where contact_id is not null;

alter table conversations add column thread_id uuid references channel_threads on delete set null;
create unique index conversations_open_of_thread on conversations (thread_id)
  where thread_id is not null and status <> 'ended';
create index conversations_thread on conversations (thread_id, created_at desc) where thread_id is not null;
-- Who may wait for an answer.
create index conversations_on_channels on conversations (updated_at) where thread_id is not null and status = 'ongoing';

-- What came in and is durably ours before the provider hears so; taken into its conversation a moment later.
create table inbound_messages (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  agent_id text not null references agents on delete cascade,
  thread_id uuid not null references channel_threads on delete cascade,
  -- The provider's own id: what comes twice is kept once.
  provider_message_id text not null,
  content jsonb not null,
  sent_at timestamptz(3) not null,
  -- The message that it became; null while it waits.
  message_id uuid,
  taken_in_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  unique (thread_id, provider_message_id)
);
create index inbound_messages_waiting on inbound_messages (thread_id, sent_at, id) where taken_in_at is null;
create index inbound_messages_account on inbound_messages (account_id);
create index inbound_messages_agent on inbound_messages (agent_id);
create index inbound_messages_message on inbound_messages (message_id) where message_id is not null;

-- Bytes that belong to a message: they lie in the files folder under `path`.
create table attachments (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  agent_id text not null references agents on delete cascade,
  -- null: uploaded and not sent yet.
  conversation_id uuid references conversations on delete cascade,
  ticket_id uuid references tickets on delete cascade,
  name text not null,
  media_type text not null,
  size integer not null,
  path text not null,
  created_at timestamptz(3) not null default now()
);
create index attachments_account on attachments (account_id);
create unique index attachments_path on attachments (path);
create index attachments_agent on attachments (agent_id);
create index attachments_conversation on attachments (conversation_id) where conversation_id is not null;
create index attachments_ticket on attachments (ticket_id) where ticket_id is not null;

-- What team, customer and system said on a ticket. What stands in a conversation as well has its message's id.
create table ticket_messages (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  agent_id text not null references agents on delete cascade,
  ticket_id uuid not null references tickets on delete cascade,
  type text not null check (type in ('reply', 'note', 'event')),
  -- {type, id, name, email}; null for what nobody did.
  sender jsonb,
  content text,
  content_text text,
  attachments jsonb not null default '[]',
  metadata jsonb,
  message_id uuid,
  created_at timestamptz(3) not null default now()
);
create index ticket_messages_ticket on ticket_messages (ticket_id, created_at, id);
create index ticket_messages_account on ticket_messages (account_id);
create index ticket_messages_agent on ticket_messages (agent_id);
create index ticket_messages_message on ticket_messages (message_id) where message_id is not null;

-- What has to reach a customer over a channel: one at a time and in order for each lane (a thread, or a ticket that
-- has none yet), until it is sent or refused.
create table deliveries (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  agent_id text not null references agents on delete cascade,
  channel text not null check (channel in ('messaging', 'email')),
  lane uuid not null,
  -- Counted under the lock of what the lane belongs to.
  ordinal integer not null,
  thread_id uuid references channel_threads on delete cascade,
  conversation_id uuid references conversations on delete cascade,
  ticket_id uuid references tickets on delete cascade,
  -- The message of the conversation, and that of the ticket, whose words these are.
  message_id uuid,
  ticket_message_id uuid references ticket_messages on delete cascade,
  content jsonb not null,
  status text not null default 'queued'
    check (status in ('queued', 'sending', 'sent', 'delivered', 'read', 'failed')),
  attempts integer not null default 0,
  next_at timestamptz(3) not null default now(),
  lease_until timestamptz(3),
  -- The last attempt may have reached the provider.
  maybe_sent boolean not null default false,
  provider_message_id text,
  error text,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  unique (lane, ordinal)
);
create index deliveries_open on deliveries (lane, ordinal) where status in ('queued', 'sending');
create index deliveries_due on deliveries (next_at) where status in ('queued', 'sending');
create index deliveries_provider on deliveries (agent_id, provider_message_id) where provider_message_id is not null;
create index deliveries_account on deliveries (account_id);
create index deliveries_thread on deliveries (thread_id) where thread_id is not null;
create index deliveries_conversation on deliveries (conversation_id) where conversation_id is not null;
create index deliveries_ticket on deliveries (ticket_id) where ticket_id is not null;
create index deliveries_ticket_message on deliveries (ticket_message_id) where ticket_message_id is not null;

-- Numbers of an agent's helpdesk events: given under the row's lock, so that they grow in the order of their commits
-- and nobody who goes on after one misses another.
create table helpdesk_streams (
  agent_id text primary key references agents on delete cascade,
  account_id uuid not null references accounts on delete cascade,
  last_number bigint not null default 0
);
create table helpdesk_events (
  agent_id text not null references agents on delete cascade,
  number bigint not null,
  account_id uuid not null references accounts on delete cascade,
  type text not null,
  data jsonb not null,
  created_at timestamptz(3) not null default now(),
  primary key (agent_id, number)
);
create index helpdesk_events_created on helpdesk_events (created_at);
create index helpdesk_events_account on helpdesk_events (account_id);
create index helpdesk_streams_account on helpdesk_streams (account_id);
