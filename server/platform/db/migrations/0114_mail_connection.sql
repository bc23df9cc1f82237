-- compatible_from: 0076
alter table email_connections
  -- How many mails the sending server has refused since it last took one.
  add column smtp_refusals integer not null default 0,
  -- Certificates (PEM) that are trusted in addition to the public ones.
  add column authority text,
  -- Whether sent mails are put into the mailbox's folder for them, and why that failed last.
  add column keeps_sent boolean not null default false,
  add column sent_error text;
