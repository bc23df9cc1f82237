-- compatible_from: 0076
-- A source that live answers leave out keeps its external id, for a roll back. Another one can have it meanwhile.
drop index sources_external_id;
alter index sources_live_external_id rename to sources_external_id;

-- What the team asks to try out an agent. Rows of the constraint before meet this one.
alter table embedding_usage drop constraint embedding_usage_kind_check;
alter table embedding_usage add constraint embedding_usage_kind_check
  check (kind in ('passages', 'questions', 'trials')) not valid;

-- Processes of the version before answer with sources that are left out.
alter table processes add column knows_left_out boolean not null default false;
