-- A source is marked before its content is given to a parser, and the mark is taken away afterwards. A mark whose
-- process is gone tells that the process has died meanwhile; a source to which this happens again and again is left alone.
alter table sources
  -- The content_version that the other columns are about.
  add column reading_version integer,
  -- Who reads it now.
  add column reading_process uuid,
  add column reading_epoch integer,
  -- Grows whenever reading this version ends the service or the child process that parses it.
  add column reading_strikes integer not null default 0;
