-- compatible_from: 0076
-- For how many days prompts are kept with the answers to customers; null: not at all.
alter table agents add column prompt_days integer check (prompt_days between 1 and 3650);

-- Whether numbers of cards and bank accounts are taken out of what customers write before a model reads it.
alter table agents add column redacts_payments boolean not null default false;

-- What answers are made of is kept for all that a language model gives. Of those to customers, the prompt leaves in time.
alter table playground_runs add column has_prompt boolean not null default false;
