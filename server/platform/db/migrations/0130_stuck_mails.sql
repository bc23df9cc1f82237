-- compatible_from: 0076
-- The mail at which reading the mailbox failed last, and how often in a row.
alter table email_connections add column stuck_uid bigint;
alter table email_connections add column stuck_tries integer not null default 0;
