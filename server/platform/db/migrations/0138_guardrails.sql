-- compatible_from: 0076
-- The budget of money, forbidden topics, and what happens to answers with values that are not grounded; null: the defaults.
alter table agents add column guardrails jsonb;

-- The month and the step of the budget that the owners were told of, such as '2027-01 limit'.
alter table agents add column budget_told text;

-- Calls of which the price or the tokens are not known, so that they are not in the dollars.
alter table model_usage add column unpriced_calls bigint not null default 0;
