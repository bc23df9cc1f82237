-- compatible_from: 0076
-- The words of the questions that a source of questions and an answer alone answers, before any model; null: none.
alter table sources add column fixed_keys text[];

-- How many answers of a day ended how, by outcome, and how many have values that their model was not given.
alter table insight_days add column outcomes jsonb not null default '{}';
update insight_days set is_stale = true where day > current_date - 92;
