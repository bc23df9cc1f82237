-- Events of tickets name people by object and not by id, and have the names of the published service.
update ticket_messages set metadata = metadata
  || case metadata ->> 'eventType' when 'status_changed' then '{"eventType": "status_change"}'::jsonb
    when 'assignee_changed' then '{"eventType": "assign"}' else '{}' end
  || coalesce((
    select jsonb_object_agg(field, jsonb_build_object(
      'id', case when metadata ->> field in ('customer', 'system', 'api') then null else metadata ->> field end,
      'name', case when metadata ->> field = 'api' then 'API' else members.name end,
      'email', members.email,
      'type', case metadata ->> field when 'customer' then 'customer' when 'system' then 'system'
        when 'api' then 'system' else 'agent' end))
    from unnest(array['doneBy', 'assignedFrom', 'assignedTo']) as field
    left join members on members.account_id = ticket_messages.account_id and members.id::text = metadata ->> field
    where jsonb_typeof(metadata -> field) = 'string'), '{}')
where type = 'event';
