-- How many replies to the customer's newest message were begun, whatever became of them.
alter table conversations add column answer_starts integer not null default 0;
