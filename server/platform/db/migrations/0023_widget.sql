-- Chats on websites end by idling, and are answered when a process died with their answer, as channels are.
create index conversations_in_widgets on conversations (updated_at)
  where source = 'Widget or Iframe' and status = 'ongoing';

-- The visitor who left it in the form of the chat; null for those that an action collected: their conversation tells.
alter table leads add column user_id text;
create index leads_user on leads (account_id, user_id) where user_id is not null;
-- No conversation takes these along when its time is over.
create index leads_without_conversation on leads (agent_id, created_at) where conversation_id is null;
