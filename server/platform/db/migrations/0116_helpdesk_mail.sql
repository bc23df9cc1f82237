-- compatible_from: 0076
-- What the replies of people end with in mails: Markdown with variables.
alter table helpdesk_settings add column signature text;

-- Replies that wait a few seconds before they are sent, so that their author can take them back.
create table held_replies (
  id uuid primary key,
  account_id uuid not null references accounts on delete cascade,
  agent_id text not null references agent_ids on delete cascade,
  ticket_id uuid not null references tickets on delete cascade,
  author_id uuid not null references members on delete cascade,
  -- The reply as it was requested.
  reply jsonb not null,
  due_at timestamptz(3) not null,
  -- Why it could not be sent. It then waits until somebody takes it back.
  error text,
  created_at timestamptz(3) not null default now()
);
create index held_replies_ticket on held_replies (ticket_id);
create index held_replies_author on held_replies (author_id);
create index held_replies_agent on held_replies (agent_id);
create index held_replies_account on held_replies (account_id);
