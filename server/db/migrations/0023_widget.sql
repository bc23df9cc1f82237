-- Chats on websites end by idling, and are answered when a process died with their answer, as channels are.
create index conversations_in_widgets on conversations (updated_at)
  where source = 'Widget or Iframe' and status = 'ongoing';
