-- compatible_from: 0076
-- When the agent was last asked this again, because its knowledge had grown; the version of the knowledge that it was
-- asked with; and how often it was asked on that day (UTC).
alter table unanswered_groups add column asked_again_at timestamptz(3);
alter table unanswered_groups add column asked_again_version bigint;
alter table unanswered_groups add column asked_again_count integer not null default 0;
