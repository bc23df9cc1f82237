-- compatible_from: 0076
-- The language and region that the browser of a visitor asks for, such as de-AT, as the prompt names it; null: not known.
alter table conversations add column locale text;
