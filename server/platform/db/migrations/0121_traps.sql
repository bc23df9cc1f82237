-- compatible_from: 0076
-- By what addresses without end are recognised: the page on which a page was found first, and a sample of its text.
alter table pages
  add column found_on integer,
  add column sketch jsonb;
