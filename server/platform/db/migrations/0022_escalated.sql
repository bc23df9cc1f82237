-- A conversation that a ticket was opened for, or that a person took over, stays one, wherever the ticket moves.
alter table conversations add column escalated boolean not null default false;
update conversations set escalated = true
  where status = 'taken_over' or id in (select conversation_id from tickets where conversation_id is not null);

create function conversation_taken_over() returns trigger language plpgsql as $$
begin
  new.escalated := true;
  return new;
end $$;
create trigger conversation_taken_over before insert or update on conversations for each row
  when (new.status = 'taken_over' and not new.escalated) execute function conversation_taken_over();

create function conversation_has_ticket() returns trigger language plpgsql as $$
begin
  update conversations set escalated = true where id = new.conversation_id and not escalated;
  return null;
end $$;
create trigger conversation_has_ticket after insert or update of conversation_id on tickets for each row
  when (new.conversation_id is not null) execute function conversation_has_ticket();
