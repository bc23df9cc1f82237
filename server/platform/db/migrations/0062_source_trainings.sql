-- What became of a source's last trainings, the newest first, twenty at most.
alter table sources add column trainings jsonb not null default '[]';
