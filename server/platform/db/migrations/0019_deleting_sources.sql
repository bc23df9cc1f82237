-- A large source is emptied in steps; until its row is gone it says so.
alter table sources drop constraint sources_status_check;
alter table sources
  add constraint sources_status_check
    check (status in ('untrained', 'trained', 'updated', 'failed', 'toBeDeleted')),
  -- Until when nobody else goes on with its deletion.
  add column deletion_held_until timestamptz(3);
create index sources_deleting on sources (deletion_held_until) where status = 'toBeDeleted';
