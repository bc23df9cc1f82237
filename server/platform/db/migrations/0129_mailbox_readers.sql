-- compatible_from: 0076
-- Since when the agent reads the mailbox: it has proven that it knows the password. One agent reads a mailbox.
alter table email_connections add column reader_since timestamptz(3);
