-- How long a conversation of a channel may be idle before it ends; null: 24 hours.
alter table accounts add column idle_hours integer check (idle_hours between 1 and 8760);
