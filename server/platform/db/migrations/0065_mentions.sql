-- Notes that mention a member, for the list of the tickets that somebody was mentioned in.
create index ticket_messages_mentions on ticket_messages using gin ((metadata -> 'mentions') jsonb_path_ops)
  where type = 'note' and metadata ? 'mentions';
