-- The id of the heading on its page under which a chunk stands, for links that lead there.
alter table chunks add column anchor text;
