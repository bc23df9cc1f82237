-- compatible_from: 0076
-- The words of the questions that a source of questions and an answer alone answers, before any model; null: none.
alter table sources add column fixed_keys text[];
