-- compatible_from: 0076
-- New mails and forwarded messages wait like replies. A new mail has no ticket before it is sent.
alter table held_replies
  alter column ticket_id drop not null,
  add column kind text not null default 'reply' check (kind in ('reply', 'forward', 'mail'));
