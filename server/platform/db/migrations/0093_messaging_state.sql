-- compatible_from: 0076
-- Why the last request to the provider failed; null: it did not, or there was none.
alter table messaging_accounts add column error text;
-- When the provider was last reached or not; null: not since the account was connected.
alter table messaging_accounts add column checked_at timestamptz(3);
