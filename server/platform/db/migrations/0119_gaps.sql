-- compatible_from: 0076
-- What is not in the text of a source or page: [{"kind": "pages", "place": "pages 3, 5", "count": 2}].
alter table sources add column gaps jsonb not null default '[]';
alter table pages add column gaps jsonb not null default '[]';
