-- How far each member has read the tickets that waited for the team.
create table seen_tickets (
  ticket_id uuid not null references tickets on delete cascade,
  member_id uuid not null references members on delete cascade,
  account_id uuid not null references accounts on delete cascade,
  seen_until timestamptz(3) not null,
  primary key (ticket_id, member_id)
);
create index seen_tickets_member on seen_tickets (member_id);
create index seen_tickets_account on seen_tickets (account_id);
