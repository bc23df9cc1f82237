-- compatible_from: 0076
update tickets set
  waiting_since = case when status_category in ('new', 'on_you') then coalesce(last_message_at, created_at) end,
  due_at = (select min(ticket_clocks.due_at) from ticket_clocks
    where ticket_clocks.ticket_id = tickets.id and met_at is null)
where status_category not in ('closed', 'cancelled');
