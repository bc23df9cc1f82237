-- compatible_from: 0076
-- What was said up to the message with this number, for models, whose prompts no longer hold these messages.
alter table conversations add column history_summary text, add column summarised_seq integer not null default 0;
